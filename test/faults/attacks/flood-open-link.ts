import http from 'node:http'
import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import { createProofChallenge } from '../../../src/interfaces/candidate/open/proof-of-work.ts'

/** Submits forms of an open link from several loopback addresses in parallel, one form at a time from each. */
export type OpenLinkFlood = {
  port: number
  path: string
  linkId: string
  secretKey: string
  forms: number
  addresses: number
}

/** Solves a challenge of minimal effort, so that the attacker needs almost no processor time. */
export async function solveCheaply({ linkId, secretKey }: Pick<OpenLinkFlood, 'linkId' | 'secretKey'>): Promise<string> {
  const effort = { iterations: 1, minimum: 1, maximum: 1 }
  const challenge = await createProofChallenge([secretKey], { linkId, now: new Date(), effort })
  return JSON.stringify({ challenge, solution: await solveChallenge({ challenge, deriveKey }) })
}

/** Sends one form. @param from loopback address of the sender. @returns the status of the response. */
export function sendForm(
  { port, path }: Pick<OpenLinkFlood, 'port' | 'path'>,
  fields: { email: string; solution: string },
  { from, agent }: { from: string; agent?: http.Agent },
): Promise<number> {
  const body = String(new URLSearchParams({ name: 'Amara Duarte', language: 'en', ...fields }))
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) }
  const options = { host: '127.0.0.1', port, path: `${path}/register`, method: 'POST', headers, localAddress: from }
  return new Promise((resolve, reject) => {
    const request = http.request({ ...options, ...(agent && { agent }) }, (answer) => {
      answer
        .on('error', reject)
        .on('end', () => resolve(answer.statusCode!))
        .resume()
    })
    request.on('error', reject).end(body)
  })
}

// The attack runs as a separate process, so that it does not slow down the measurement. Prints the number of responses by status.
if (import.meta.main) {
  const flood: OpenLinkFlood = JSON.parse(process.argv[2]!)
  const statuses: Record<number, number> = {}
  const sendAllFrom = async (nth: number) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    let solution = ''
    for (let i = nth; i < flood.forms; i += flood.addresses) {
      const round = Math.floor(i / flood.addresses)
      // One of three forms has a new solution, one repeats the solution, and one has none.
      if (round % 3 === 0) solution = await solveCheaply(flood)
      const fields = { email: `victim${i}@example.com`, solution: round % 3 === 2 ? '' : solution }
      const status = await sendForm(flood, fields, { from: `127.0.1.${nth + 1}`, agent })
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: flood.addresses }, (_, nth) => sendAllFrom(nth)))
  process.stdout.write(JSON.stringify(statuses))
}
