import { Webhook } from 'standardwebhooks'

type Message = { id: string; sentAt: Date; body: string }

/** Standard Webhooks headers, with one signature per secret. */
export const signedHeaders = (secrets: readonly string[], { id, sentAt, body }: Message): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(' '),
})
