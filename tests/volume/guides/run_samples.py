"""Runs samples one after the other in one process: to load their packages takes longer than they
do. Reads [{"code", "key"}] from standard input, and prints what each one printed, as JSON."""

import contextlib
import io
import json
import os
import sys
import traceback

printed = []
for sample in json.load(sys.stdin):
    os.environ["TOLLGATE_KEY"] = sample["key"]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            exec(compile(sample["code"], "sample", "exec"), {"__name__": "__main__"})
        except BaseException:
            print(traceback.format_exc())
    printed.append(output.getvalue())
json.dump(printed, sys.stdout)
