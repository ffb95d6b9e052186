import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Result of one request: a complete response, or the error. */
export type Outcome = {
  requestId: string
  /** Undefined if there was no response. */
  status?: number
  /** True if the response was complete. */
  complete: boolean
  /** True if the client keeps its connection open between requests. */
  kept: boolean
  error?: string
  email?: string
}

type Clients = {
  kept: boolean
  clients: number
  /** Milliseconds that each client waits after a response. */
  pause?: number
}
type Target = { url: string; key: string; assessmentId: string }

let count = 0

/**
 * Sends requests one after the other from `clients` clients, over kept or new connections, until it is stopped. Every other request creates an
 * invite.
 */
export function putUnderLoad(target: Target, { kept, clients, pause = 0 }: Clients) {
  const outcomes: Outcome[] = []
  let stopped = false
  const run = async () => {
    const agent = new Agent({ keepAlive: kept, maxSockets: 1 })
    let refused = 0
    while (!stopped && refused < 3) {
      const outcome = await send(target, agent, kept)
      outcomes.push(outcome)
      if (outcome.error !== undefined) refused++
      if (pause > 0) await sleep(pause)
    }
    agent.destroy()
  }
  const done = Promise.all(Array.from({ length: clients }, run))
  return {
    outcomes,
    /** Stops sending, and waits for outstanding responses. */
    stop: async () => {
      stopped = true
      await done
    },
  }
}

function send({ url, key, assessmentId }: Target, agent: Agent, kept: boolean): Promise<Outcome> {
  const number = ++count
  const requestId = `load-${number}`
  const email = number % 2 === 0 ? `load-${number}@example.com` : undefined
  const headers = { 'x-api-key': key, 'x-request-id': requestId, ...(email && { 'content-type': 'application/json' }) }
  const method = email ? 'POST' : 'GET'
  return new Promise((resolve) => {
    const settle = (outcome: Partial<Outcome>) =>
      resolve({ requestId, complete: false, kept, ...(email && { email }), ...outcome })
    const sent = request(`${url}/api/v1/${email ? 'invites' : 'tags'}`, { agent, method, headers }, (answer) => {
      const status = answer.statusCode!
      answer.on('close', () => settle({ status, complete: answer.complete }))
      answer.on('error', (error) => settle({ status, error: String(error) }))
      answer.resume()
    })
    sent.on('error', (error: NodeJS.ErrnoException) => settle({ error: error.code ?? error.message }))
    sent.end(email && JSON.stringify({ assessmentId, recipientEmail: email }))
  })
}
