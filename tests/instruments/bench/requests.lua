-- Send the requests of a file (see plan.py) in a circle. Each thread takes every n-th,
-- so that no two connections send the same one at about the same time.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  stride = tonumber(args[2])
  requests = {}
  local headers = {}
  for line in io.lines(args[1]) do
    local name, value = line:match("^([^ ]+): (.*)$")
    if name then
      headers[name] = value
    else
      local method, path, body = line:match("^(%S+) (%S+) ?(.*)$")
      if body == "" then body = nil end
      requests[#requests + 1] = wrk.format(method, path, headers, body)
    end
  end
  place = number - stride
end

function request()
  place = place + stride
  return requests[1 + place % #requests]
end

function done(summary, latency, _)
  local failed = summary.errors.status + summary.errors.connect
    + summary.errors.read + summary.errors.write + summary.errors.timeout
  print(string.format("result %d %d %d %.0f %.0f", summary.requests, summary.duration,
    failed, latency:percentile(50), latency:percentile(99)))
end
