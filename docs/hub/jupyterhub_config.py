"""Two courses on one JupyterHub: each has its own instructors, students and formgrader; nobody gets into the other's.

Tried with JupyterHub 6.1 and nbgrader 0.9.6. An account owns each course's folder and its gradebook; students and
instructors have accounts of their own. Once, as root (FOLDER: this checkout; BUNDLE: the folder that `make bundle` writes):

    python3 -m venv /opt/course
    /opt/course/bin/pip install "FOLDER[lab,grading]" jupyterhub -c FOLDER/constraints.txt
    npm install -g configurable-http-proxy
    mkdir -p /etc/skel/lessons && cp -r BUNDLE/notebooks/. /etc/skel/lessons      (every new account gets its own copy)
    for name in grader-spring grader-autumn ines otto ada bob cem dee; do useradd -m -s /bin/bash $name; done
    passwd ada                                                                    (and the others: the Hub asks the system)
    groupadd graders && usermod -aG graders grader-spring && usermod -aG graders grader-autumn
    chgrp -R graders FOLDER && chmod -R o-rwx FOLDER                  (it holds the keys, and students have accounts here)
    install -d -m 2777 /srv/nbgrader/exchange
    cd FOLDER && sudo -u grader-spring /opt/course/bin/python -m grader init /home/grader-spring/spring --course-id spring \\
        --exchange /srv/nbgrader/exchange
    (and the same for autumn)
    install -d -m 700 /srv/jupyterhub && cd /srv/jupyterhub            (where the Hub keeps its own files)
    /opt/course/bin/jupyterhub -f FOLDER/docs/hub/jupyterhub_config.py

For students' list of assignments, in /etc/jupyter/nbgrader_config.py:

    c = get_config()
    c.Exchange.root = "/srv/nbgrader/exchange"
    c.Exchange.path_includes_course = True
    c.Authenticator.plugin_class = "nbgrader.auth.JupyterHubAuthPlugin"  # asks the Hub for the groups below

The spawner here starts each server under the student's own system account, and so must another one: the exchange takes the name
of that account, the checkpoint the Hub's name, and a submission whose two names differ is held back. In containers run the
server as `jovyan`, which nbgrader takes for "ask the Hub"; as `root` all students would be one.
"""

import pwd
import sys
from pathlib import Path

c = get_config()  # noqa: F821

COURSES = {  # course id -> (the account that owns it, port of its formgrader, instructors, students)
    "spring": ("grader-spring", 9991, ["ines"], ["ada", "bob"]),
    "autumn": ("grader-autumn", 9992, ["otto"], ["cem", "dee"]),
}

accounts = {name for account, _, teachers, students in COURSES.values() for name in (account, *teachers, *students)}
if absent := sorted(accounts - {one.pw_name for one in pwd.getpwall()}):
    sys.exit(
        f"These accounts do not exist: {', '.join(absent)}. Next step: useradd -m -s /bin/bash NAME for each, or edit COURSES."
    )

tools = Path(sys.executable).parent
c.Spawner.cmd = [str(tools / "jupyterhub-singleuser")]
c.Authenticator.allowed_users = {name for *_, teachers, students in COURSES.values() for name in (*teachers, *students)}
c.JupyterHub.load_groups, c.JupyterHub.services = {}, []
c.JupyterHub.load_roles = [{"name": "user", "scopes": ["self", "read:users:groups!user"]}]  # which courses am I in?
for course, (account, port, instructors, students) in COURSES.items():
    c.JupyterHub.load_groups |= {
        f"formgrade-{course}": {"users": instructors},
        f"nbgrader-{course}": {"users": students},
    }
    c.JupyterHub.services.append(
        {
            "name": course,
            "url": f"http://127.0.0.1:{port}",
            "command": [str(tools / "jupyterhub-singleuser")],
            "user": account,
            "cwd": f"/home/{account}/{course}",  # whose nbgrader_config.py holds
            "oauth_no_confirm": True,
            "oauth_client_allowed_scopes": ["inherit"],
        }
    )
    c.JupyterHub.load_roles.append(
        {
            "name": f"formgrade-{course}",
            "groups": [f"formgrade-{course}"],
            "scopes": [f"access:services!service={course}"],
        }
    )
