import autocannon, { type Client } from 'autocannon'

/** One kind of request; those with a body make one anew each time, those with a session's cookie go without the key. */
export type Request = { path: string; body?: () => object; cookie?: string }

/** @property requests are taken in turn, by each connection from another one on. @property url of the server. */
export type Load = { url: string; key: string; requests: Request[]; connections: number }

/** Result of some seconds of load: responses per second, and the median response time in milliseconds. */
export type Sample = { throughput: number; p50: number }

/** Milliseconds until autocannon stops. */
const STOPS_WITHIN_MS = 20
/** Seconds. A slow case runs until each connection has a response, at most this long. */
const PATIENCE = 30

/**
 * Sends requests for so many seconds or a little longer, on each connection the next as soon as the one before is answered.
 *
 * @throws Error when anything but the expected status comes back, or nothing does.
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
      // All clients begin with the first request otherwise, and would ask for the same thing at the same time ever after.
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
  // Until the last answer, not until the end: what is under way then is dropped, which would count against the slow.
  return { throughput: times.length / ((last - begun) / 1000), p50: median(times) }
}

export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}

/** The header by which each interface takes the key. */
export const keyHeader = (path: string, key: string): Record<string, string> =>
  path.startsWith('/api/v1') ? { 'x-api-key': key } : { 'x-service-docs-api-key': key }

function prepare({ path, body, cookie }: Request, key: string): autocannon.Request {
  const headers = { ...(cookie ? { cookie } : keyHeader(path, key)), 'content-type': 'application/json' }
  if (!body) return { path, headers }
  return { path, method: 'POST', headers, setupRequest: (request) => ({ ...request, body: JSON.stringify(body()) }) }
}

const rotate = (requests: autocannon.Request[], by: number): autocannon.Request[] =>
  [...requests.slice(by), ...requests.slice(0, by)].map((request) => ({ ...request }))
