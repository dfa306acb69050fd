"""The tour: the demo without arguments."""
import os
import time


def check_tour(demo):
    began = time.monotonic()
    result = code, out, err = demo.run([])
    seconds = time.monotonic() - began
    rows = out.splitlines()[1:-1]
    demo.check("tour: exit code 0, nothing on standard error", code == 0 and err == "", result)
    demo.check("tour: four rows, of 1 to 16 MiB", len(rows) == 4 and all(
        1 << 20 <= int(row.split()[1].replace(",", "")) <= 16 << 20 for row in rows), out)
    demo.check("tour: by callback, future and await", {row.split()[-1] for row in rows} == {"callback", "future", "await"}, out)
    demo.check("tour: under 15 s beside other builds", seconds < 15, "%.1f s" % seconds)
    demo.check("tour: leaves no temporary files", os.listdir(demo.temporary) == [], os.listdir(demo.temporary))
