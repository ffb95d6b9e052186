// Creates an invite with a test key, simulates its candidate and grader, and receives the webhook of the released result. No mail is sent.
//
//   npm pkg set type=module
//   npm install http://localhost:3000/docs/clients/assessment-invitation-service-client.tgz tsx
//   SERVICE=http://localhost:3000 KEY=ak_test_… npx tsx first-result.ts
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { connect, everyItem, verifyWebhook, type WebhookMessage } from 'assessment-invitation-service-client'

const { SERVICE = 'http://localhost:3000', KEY = '' } = process.env
const api = connect({ service: SERVICE, key: KEY })
const say = (line: string) => process.stdout.write(`${line}\n`)

// Accepts events only if they are signed with the webhook's secret.
let secret = ''
let receive: (event: WebhookMessage) => void
const received = new Promise<WebhookMessage>((resolve) => (receive = resolve))
const receiver = createServer(async (request, response) => {
  const body = await buffer(request)
  const event = await verifyWebhook({ body, headers: request.headers, secret }).catch(() => undefined)
  response.writeHead(event ? 204 : 400).end()
  if (event) receive(event)
})
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const { port } = receiver.address() as AddressInfo
const subscribed = await api.createWebhook({ body: { url: `http://127.0.0.1:${port}/`, types: ['submission.released'] } })
secret = subscribed.data.secret

for await (const assessment of everyItem((page) => api.listAssessments({ query: { page } }))) {
  if (assessment.questionCount === 0) continue
  const body = { assessmentId: assessment.id, recipientEmail: `${crypto.randomUUID()}@example.com`, externalId: 'candidate-4711' }
  const { data: created } = await api.createInvite({ body })
  say(`${created.invite.recipientEmail} is invited to ${assessment.name}`)

  // Simulates the candidate and the grader, with generated answers and grades.
  const path = { inviteId: created.invite.id }
  await api.simulateInvite({ path, body: { action: 'release' } })

  const event = await received
  say(`The webhook has received ${event.type}${event.type === 'submission.released' ? `: ${event.data.percent} %` : ''}`)
  const { data: submission } = await api.getInviteSubmission({ path })
  say(`${submission.state}: ${submission.result?.points} of ${submission.result?.ofPoints} points`)
  break
}

await api.deleteWebhook({ path: { webhookId: subscribed.data.webhook.id } })
receiver.close()
