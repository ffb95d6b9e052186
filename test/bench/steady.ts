import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from './fill.ts'
import { keyHeader, median } from './load.ts'
import type { Server } from './rivals.ts'

const STEADY_EVERY_MS = 10

/** Reads an invite every 10 ms on one connection as long as something lasts. @returns the median response time in milliseconds. */
export async function askSteadily({ url }: Server, { key, inviteIds }: Organization, during: Promise<unknown>): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  let lasts = true
  const end = during.finally(() => {
    lasts = false
  })
  for (let due = performance.now(); lasts; due += STEADY_EVERY_MS) {
    await sleep(Math.max(0, due - performance.now()))
    const path = `/api/v1/invites/${inviteIds[times.length % inviteIds.length]}`
    times.push(await timeOf(url + path, keyHeader(path, key), agent))
    // Whoever was held up does not catch up: the next is due 10 ms later.
    due = Math.max(due, performance.now() - STEADY_EVERY_MS)
  }
  agent.destroy()
  await end
  return median(times)
}

const timeOf = (url: string, headers: Record<string, string>, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const begun = performance.now()
    get(url, { headers, agent }, (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - begun)
        else reject(new Error(`GET ${url}: status ${response.statusCode}`))
      })
    }).on('error', reject)
  })
