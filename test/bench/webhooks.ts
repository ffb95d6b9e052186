import type { Organization } from './fill.ts'
import { keyHeader } from './load.ts'
import type { Server } from './rivals.ts'

const WEBHOOKS = '/api/v1/webhooks'

/** Has the organization told of each new invite at that address. @returns the endpoint's id. */
export async function addEndpoint(server: Server, organization: Organization, url: string): Promise<string> {
  const { webhook } = await post(server, organization, WEBHOOKS, { url, types: ['invite.created'] })
  return webhook.id
}

/** Has all that happened behind a position sent there once more. */
export async function replay(server: Server, organization: Organization, endpointId: string, position: string): Promise<void> {
  await post(server, organization, `${WEBHOOKS}/${endpointId}/replay`, { fromCursor: position })
}

async function post({ url }: Server, { key }: Organization, path: string, body: object) {
  const headers = { ...keyHeader(path, key), 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`POST ${path}: status ${response.status}: ${await response.text()}`)
  // biome-ignore lint/suspicious/noExplicitAny: what v1 answers
  return (await response.json()) as any
}
