#!/usr/bin/env bash
# llama.cpp gives a text another vector in a batch than alone, if a shorter text is in the batch and vectors are means.
#
# Versions: xllamacpp 2026.10.11549 (llama.cpp's own server) with gguf 0.19.0 and numpy 2.4.6; Python 3.11 or newer with venv.
# Behaviour: POST /v1/embeddings with `input` of two texts, by a decoder model with `pooling_type` mean. The shorter text gets
#   the vector that it gets alone. The longer one gets another: as many tokens as the shorter one has are computed for both,
#   then the rest of the longer one, and its vector is the mean of that rest alone. Beside one of 5 tokens, a text of 16 has
#   the mean of its last 11. With two texts of one length, or with the pooling `last`, nothing differs. The count of tokens is
#   right each time, and no error is told.
# Why it matters to a metered gateway: callers pay for vectors that do not match those of the same texts asked for one by one.
#   A gateway must send a batch as its caller made it: if it joins texts of several calls, or divides a batch, it changes what
#   they paid for, and the usage that it charges by cannot show it.
# Output seen (how near the vector of the second text is to the one that it gets alone, as a cosine):
#   mean, a shorter text before it: differs
#   mean, the same length: equal
#   last, a shorter text before it: equal
#   last, the same length: equal
# Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check xllamacpp==2026.10.11549 gguf==0.19.0 numpy==2.4.6

cat > model.py <<'END'
"""A decoder of one layer with random weights, whose tokens are bytes."""
import gguf
import numpy

WIDTH, HEADS = 64, 4
plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
rest = [byte for byte in range(256) if byte not in plain]
words = ["<s>", "</s>", *(chr(byte if byte in plain else 256 + rest.index(byte)) for byte in range(256))]
random = numpy.random.default_rng(1)
out = gguf.GGUFWriter("model.gguf", "llama")
out.add_context_length(2048)
out.add_embedding_length(WIDTH)
out.add_block_count(1)
out.add_feed_forward_length(WIDTH)
out.add_head_count(HEADS)
out.add_head_count_kv(HEADS)
out.add_rope_dimension_count(WIDTH // HEADS)
out.add_layer_norm_rms_eps(1e-5)
out.add_vocab_size(len(words))
out.add_tokenizer_model("gpt2")
out.add_tokenizer_pre("default")
out.add_token_list(words)
out.add_token_types([gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.NORMAL] * 256)
out.add_token_merges(["a b"])
out.add_bos_token_id(0)
out.add_eos_token_id(1)
matrices = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
for name, shape in [
    ("token_embd", (len(words), WIDTH)),
    ("output", (len(words), WIDTH)),
    *((f"blk.0.{matrix}", (WIDTH, WIDTH)) for matrix in matrices),
]:
    out.add_tensor(f"{name}.weight", (random.standard_normal(shape) * 0.1).astype(numpy.float32))
for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"]:
    out.add_tensor(f"{name}.weight", numpy.ones(WIDTH, dtype=numpy.float32))
out.write_header_to_file()
out.write_kv_data_to_file()
out.write_tensors_to_file()
out.close()
END

cat > try.py <<'END'
import json
import sys
import urllib.request

import numpy
import xllamacpp

KINDS = xllamacpp.llama_pooling_type
pooling = sys.argv[1]
settings = xllamacpp.CommonParams()
settings.model.path = "model.gguf"
settings.port = 0
settings.n_ctx = 2048
settings.n_parallel = 2
settings.cpuparams.n_threads = 1
settings.embedding = True
settings.pooling_type = {"mean": KINDS.LLAMA_POOLING_TYPE_MEAN, "last": KINDS.LLAMA_POOLING_TYPE_LAST}[pooling]
server = xllamacpp.Server(settings)


def vectors(*texts):
    body = json.dumps({"model": "m", "input": texts}).encode()
    request = urllib.request.Request(f"{server.listening_address}/v1/embeddings", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return [numpy.array(one["embedding"]) for one in json.load(answer)["data"]]


TEXT = "the dog is large"
[alone] = vectors(TEXT)
for other, what in [("a cat", "a shorter text before it"), ("the cat is small", "the same length")]:
    _, beside = vectors(other, TEXT)
    nearness = alone @ beside / numpy.linalg.norm(alone) / numpy.linalg.norm(beside)
    print(f"{pooling}, {what}: {'equal' if nearness > 0.9999 else 'differs'}", flush=True)
    print(nearness, file=sys.stderr)
END

env/bin/python model.py 2> said || { cat said; exit 1; }
seen=$(for pooling in mean last; do env/bin/python try.py "$pooling" 2> said || { cat said >&2; exit 1; }; done)
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'END'
mean, a shorter text before it: differs
mean, the same length: equal
last, a shorter text before it: equal
last, the same length: equal
END
