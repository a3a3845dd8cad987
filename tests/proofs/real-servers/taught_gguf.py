"""Makes a chat model for llama.cpp that was taught two answers. Arguments: GGUF file, the call of a tool as JSON, the text after it.

It calls the tool, and says the text once the result is there. Each token has one successor, so nothing is left to chance. What makes a
call of its words, and counts its tokens, is llama.cpp itself.
"""

import sys

import gguf
import numpy
from letters import byte_names

CONTEXT, WIDTH, HIDDEN, HEADS = 65_536, 64, 64, 4
# As models of Qwen have it. The last word says which answer is wanted.
TEMPLATE = """{%- if tools %}<|im_start|>system
# Tools
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>
For each call, return a JSON object within <tool_call></tool_call> tags:
<tool_call>
{"name": <name>, "arguments": <arguments>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content if message.content is string else '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{{ '<|done|>' if messages[-1].role == 'tool' else '<|call|>' }}{% endif %}"""
CONTROL = ["<s>", "<|im_end|>", "<|im_start|>", "<|call|>", "<|done|>"]
END, CALL, DONE = 1, 3, 4

LETTERS = byte_names()


def pieces_of(text):
    """The text in up to eight tokens, of which none is a letter."""
    letters = [LETTERS[byte] for byte in text.encode()]
    size = max(2, -(-len(letters) // 8))
    return ["".join(letters[at : at + size]) for at in range(0, len(letters), size)]


call = pieces_of(f"<tool_call>\n{sys.argv[2]}\n</tool_call>")
done = pieces_of(sys.argv[3])
words = [*CONTROL, *LETTERS]
# By the token, what follows it.
after = {}
for start, pieces in [(CALL, call), (DONE, done)]:
    at = start
    for piece in pieces:
        after[at] = at = len(words)
        words.append(piece)
    after[at] = END

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("taught")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(HIDDEN)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_vocab_size(len(words))
writer.add_tokenizer_model("gpt2")
writer.add_tokenizer_pre("default")
writer.add_token_list(words)
kinds = gguf.TokenType
writer.add_token_types([kinds.CONTROL if at < len(CONTROL) else kinds.NORMAL for at in range(len(words))])
writer.add_token_merges(["a b"])
writer.add_bos_token_id(0)
writer.add_eos_token_id(END)
writer.add_add_bos_token(False)
writer.add_chat_template(TEMPLATE)

# Each token with a successor has a place of its own, and all others have the first.
places = {token: place for place, token in enumerate(after, start=1)}
embeddings = numpy.zeros((len(words), WIDTH), dtype=numpy.float32)
heads = numpy.zeros((len(words), WIDTH), dtype=numpy.float32)
for token in range(len(words)):
    embeddings[token][places.get(token, 0)] = 1
for token, following in after.items():
    heads[following][places[token]] = 8
heads[END][0] = 8
writer.add_tensor("token_embd.weight", embeddings)
writer.add_tensor("output.weight", heads)
for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"]:
    writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, dtype=numpy.float32))
for name in ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]:
    writer.add_tensor(f"blk.0.{name}.weight", numpy.zeros((WIDTH, WIDTH), dtype=numpy.float32))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
