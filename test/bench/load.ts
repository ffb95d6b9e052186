import autocannon, { type Client } from 'autocannon'

/** One kind of request. @property body creates a new body for each request. @property cookie session cookie that replaces the API key. */
export type Request = { path: string; body?: () => object; cookie?: string }

/** @property requests each connection sends them in turn, starting at a different one. @property url of the server. */
export type Load = { url: string; key: string; requests: Request[]; connections: number }

/** Result of one load. @property throughput responses per second. @property p50 median response time in milliseconds. */
export type Sample = { throughput: number; p50: number }

/** Sampling interval of autocannon, within which it stops. */
const STOPS_WITHIN_MS = 20
/** Seconds. A slow case runs until each connection has a response, at most this long. */
const PATIENCE = 30

/**
 * Sends requests for at least these seconds. Each connection sends its next request as soon as it has a response.
 *
 * @throws Error on an unexpected status or when no response arrives.
 */
export async function drive({ url, key, requests, connections }: Load, seconds: number): Promise<Sample> {
  const expected = requests[0]?.body ? 201 : 200
  const prepared = requests.map((request) => prepare(request, key))
  const times: number[] = []
  let failure: string | undefined
  let [begun, last, clients] = [performance.now(), performance.now(), 0]
  await new Promise<void>((resolve, reject) => {
    const options: autocannon.Options = {
      url,
      connections,
      duration: seconds + PATIENCE,
      timeout: 30,
      sampleInt: STOPS_WITHIN_MS,
      skipAggregateResult: true,
      // Without this, all clients begin with the first request and always send the same request at the same time.
      setupClient: (client) => client.setRequests(rotate(prepared, Math.floor((clients++ * prepared.length) / connections))),
    }
    const run = autocannon(options, (error) => (error ? reject(error) : resolve()))
    run.on('start', () => (begun = performance.now()))
    run.on('response', (_client: Client, status: number, _bytes: number, ms: number) => {
      last = performance.now()
      times.push(ms)
      if (status !== expected) failure ??= `status ${status}`
      if (failure || (last - begun >= seconds * 1000 && times.length >= connections)) run.stop()
    })
    run.on('reqError', (error: Error) => {
      failure ??= error.message
      run.stop()
    })
  })
  if (times.length === 0) failure ??= 'no answer'
  if (failure) throw new Error(`${url}${requests[0]?.path}: ${failure}`)
  // Measure until the last response. Requests in progress at the end are dropped, and counting their time would penalize slow targets.
  return { throughput: times.length / ((last - begun) / 1000), p50: median(times) }
}

export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}

/** Returns the API key header of the path's interface. */
export const keyHeader = (path: string, key: string): Record<string, string> =>
  path.startsWith('/api/v1') ? { 'x-api-key': key } : { 'x-service-docs-api-key': key }

function prepare({ path, body, cookie }: Request, key: string): autocannon.Request {
  const headers = { ...(cookie ? { cookie } : keyHeader(path, key)), 'content-type': 'application/json' }
  if (!body) return { path, headers }
  return { path, method: 'POST', headers, setupRequest: (request) => ({ ...request, body: JSON.stringify(body()) }) }
}

const rotate = (requests: autocannon.Request[], by: number): autocannon.Request[] =>
  [...requests.slice(by), ...requests.slice(0, by)].map((request) => ({ ...request }))
