-- What wrk sends and how it judges the answers. Its argument is a file of settings that wrk.ts writes.
local settings
local requests = {}
local at = 0
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  settings = dofile(args[1])
  bad = 0
  for user = 0, settings.users - 1 do
    local headers = {
      ["content-type"] = "application/json",
      ["authorization"] = "Bearer " .. settings.keys[user % #settings.keys + 1],
      ["x-service-user"] = "user-" .. user,
    }
    for name, value in pairs(settings.headers) do headers[name] = value end
    requests[user + 1] = wrk.format("POST", settings.path, headers, settings.body)
  end
  if not settings.checks then response = nil end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

-- Runs in warm-ups alone: it costs the generator more than the request does.
function response(status, headers, body)
  if status ~= 200 or not string.find(body, settings.expected, 1, true) then bad = bad + 1 end
end

function done(summary, latency)
  local wrong = 0
  for _, thread in ipairs(threads) do wrong = wrong + thread:get("bad") end
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"calls":%d,"bytes":%d,"micros":%d,"bad":%d,"refused":%d,"broken":%d,"late":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.bytes, summary.duration, wrong, errors.status,
    errors.connect + errors.read + errors.write, errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
