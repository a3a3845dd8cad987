"""Serves a model by llama.cpp's own server until it is ended.

Arguments: GGUF file, port, `vectors` if it makes them too, `long` for prompts of agents.
"""

import signal
import sys

import xllamacpp

settings = xllamacpp.CommonParams()
settings.model.path = sys.argv[1]
settings.port = int(sys.argv[2])
settings.n_ctx = 131072 if "long" in sys.argv else 8192
settings.n_parallel = 2
settings.cpuparams.n_threads = 1
if "vectors" in sys.argv:
    settings.embedding = True
    settings.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(settings)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
