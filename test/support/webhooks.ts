import { expect } from 'vitest'
import type { Receiver } from './receiver.ts'
import type { Service } from './service.ts'

/** Settings of a service that allows webhooks to loopback. */
export const TO_LOOPBACK = { WEBHOOK_ALLOW: '127.0.0.1' }

/** Creates an organization with an assessment and an API key. @returns functions that use webhooks over HTTP. */
export async function makeIntegrator(service: Service, { mode = 'live' as 'live' | 'test' } = {}) {
  const organization = await service.make.organization({ mode })
  const { id: assessmentId } = await service.make.assessment(organization.id)
  const client = service.v1(organization.key)
  let count = 0
  return {
    ...organization,
    client,
    assessmentId,
    /** Creates an invite. @returns its id. */
    async invite(): Promise<string> {
      const { status, body } = await client
        .post('/invites')
        .send({ assessmentId, recipientEmail: `candidate${++count}@example.com`, sendEmail: false })
      expect(status).toBe(201)
      return body.invite.id
    },
    /** Creates a webhook to the receiver. */
    async subscribe({ url }: Pick<Receiver, 'url'>, fields: object = {}): Promise<{ id: string; secret: string; path: string }> {
      const { status, body } = await client.post('/webhooks').send({ url, ...fields })
      expect([status, body]).toMatchObject([201, {}])
      return { id: body.webhook.id, secret: body.secret, path: `/webhooks/${body.webhook.id}` }
    },
    /** Returns the deliveries of a webhook, oldest first. */
    async deliveries(webhook: { path: string }, query = '') {
      const { status, body } = await client.get(`${webhook.path}/deliveries?order=asc&limit=100${query}`)
      expect(status).toBe(200)
      return body.deliveries as { id: string; type: string; state: string; attemptCount: number; nextAttemptAt: string | null }[]
    },
  }
}
