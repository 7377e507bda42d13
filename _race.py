import contextlib, sys, subprocess, re, collections
from benchmarks import collecting, collect_kills
BOOT = "import sys; sys.setswitchinterval(1e-5); sys.argv=['consilience',*sys.argv[1:]]; from consilience.__main__ import run; run()"
real = subprocess.Popen
def popen(command, **kw):
    if command[1:3] == ["-m","consilience"]: command=[command[0],"-c",BOOT,*command[3:]]
    return real(command, **kw)
collecting.subprocess.Popen = popen
collect_kills.BETWEEN=(0.1,0.8)
orig=collecting.database
@contextlib.contextmanager
def database(pg):
    with orig(pg) as (db, folder):
        try: yield db, folder
        finally:
            t=(folder/"log").read_text()
            i=[m.start() for m in re.finditer("consilience.failures|Something went wrong|QueuePool|sqlalchemy.exc", t)]
            print("FAILURES", len(i)); 
            for k in i[:6]: print(t[max(0,k-300):k+3000]); print("=======")
            open("/tmp/coll3_race_server.log","w").write(t)
collecting.database=database
sys.exit(collect_kills.main(sys.argv[1:]))
