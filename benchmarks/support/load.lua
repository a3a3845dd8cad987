-- What wrk sends and how it judges the answers. Its argument is a file of settings that wrk.ts writes.
local settings
local requests = {}
local parts = {}
local at = 0
local threads = {}

-- Of more users than these, requests are put together as they are sent: their number stands in between two parts.
local PREPARED_MAX = 20000
local PLACE = "@@"
-- Coprime to the numbers of users in use, so that neighbours in time are none in a table.
local STRIDE = 7919

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  settings = dofile(args[1])
  bad = 0
  if settings.users > PREPARED_MAX then
    for key = 0, #settings.keys - 1 do
      local whole = format(key, PLACE)
      local from, to = string.find(whole, PLACE, 1, true)
      parts[key] = { before = string.sub(whole, 1, from - 1), after = string.sub(whole, to + 1) }
    end
    math.randomseed(os.time())
    at = math.random(settings.users)
    request = put_together
  else
    for user = 0, settings.users - 1 do requests[user + 1] = format(user, user) end
  end
  if not settings.checks then response = nil end
end

function format(number, user)
  local headers = {
    ["content-type"] = "application/json",
    ["authorization"] = "Bearer " .. settings.keys[number % #settings.keys + 1],
    ["x-service-user"] = "user-" .. user,
  }
  for name, value in pairs(settings.headers) do headers[name] = value end
  return wrk.format("POST", settings.path, headers, settings.body)
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function put_together()
  at = (at + STRIDE) % settings.users
  local part = parts[at % #settings.keys]
  return part.before .. at .. part.after
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
