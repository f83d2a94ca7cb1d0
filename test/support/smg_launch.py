"""Starts SMG from its wheel alone, with any of its ten policies.

The wheel's launcher wants one more package, only to rename its process, and offers `bucket` for prefill workers only,
though the gateway itself takes it for all.
"""
import sys
import types

titles = types.ModuleType("setproctitle")
titles.setproctitle = lambda title: None
sys.modules["setproctitle"] = titles

from smg.launch_router import launch_router, parse_router_args  # noqa: E402

flags = sys.argv[1:]
named = flags.index("--policy") + 1
policy = flags[named]
flags[named] = "random"
args = parse_router_args(flags)
args.policy = policy
launch_router(args)
