"""Makes a tiny chat model with random weights for llama.cpp. Argument: the GGUF file.

It answers nonsense, a printable letter a token. That is enough to see how a real server counts tokens, keeps a limit and ends an answer.
"""

import sys

import gguf
import numpy
from letters import byte_names

CONTEXT, WIDTH, LAYERS, HIDDEN, HEADS = 4096, 64, 2, 128, 4
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
START, END = 0, 1

words = ["<s>", "</s>", *byte_names()]
numbers = numpy.random.default_rng(7)
writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("tiny")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(HIDDEN)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_vocab_size(len(words))
writer.add_tokenizer_model("gpt2")
writer.add_tokenizer_pre("default")
writer.add_token_list(words)
writer.add_token_types([gguf.TokenType.CONTROL if at <= END else gguf.TokenType.NORMAL for at in range(len(words))])
writer.add_token_merges(["a b"])
writer.add_bos_token_id(START)
writer.add_eos_token_id(END)
writer.add_chat_template(TEMPLATE)


def add(name, *shape, scale=0.02):
    writer.add_tensor(name, (numbers.standard_normal(shape) * scale).astype(numpy.float32))


def add_ones(name):
    writer.add_tensor(name, numpy.ones(WIDTH, dtype=numpy.float32))


# What is not a letter of ASCII gets nothing, so the others win.
heads = numbers.standard_normal((len(words), WIDTH)) * 0.5
for at in [START, END, *(2 + byte for byte in range(256) if not 32 <= byte < 127)]:
    heads[at] = 0
add("token_embd.weight", len(words), WIDTH)
add_ones("output_norm.weight")
writer.add_tensor("output.weight", heads.astype(numpy.float32))
for layer in range(LAYERS):
    block = f"blk.{layer}"
    for part in ["attn_q", "attn_k", "attn_v", "attn_output"]:
        add(f"{block}.{part}.weight", WIDTH, WIDTH)
    add(f"{block}.ffn_gate.weight", HIDDEN, WIDTH)
    add(f"{block}.ffn_up.weight", HIDDEN, WIDTH)
    add(f"{block}.ffn_down.weight", WIDTH, HIDDEN)
    add_ones(f"{block}.attn_norm.weight")
    add_ones(f"{block}.ffn_norm.weight")
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
