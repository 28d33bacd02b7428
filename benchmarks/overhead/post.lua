-- Posts one chat body over and over and looks at every answer.
-- wrk ... -s post.lua URL -- BODY_FILE ENDING API_KEY
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  file:close()
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer " .. args[3]
  ending, refused, invalid = args[2], 0, 0
end

-- Called after wrk has taken the time of the answer, so that a latency holds none of this.
function response(status, headers, body)
  if status ~= 200 then
    refused = refused + 1
  elseif not string.find(body, ending, 1, true) then
    invalid = invalid + 1
  end
end

function done(summary, latency, requests)
  local refused, invalid = 0, 0
  for _, thread in ipairs(threads) do
    refused = refused + thread:get("refused")
    invalid = invalid + thread:get("invalid")
  end
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"invalid":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    refused, invalid, errors.connect + errors.read + errors.write + errors.timeout))
end
