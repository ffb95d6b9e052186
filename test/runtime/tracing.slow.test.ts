import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { LONG } from '../support/scale.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

type Value = { stringValue?: string; intValue?: string }
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Value }[]
}

/** Starts a collector that receives spans by OTLP over HTTP. */
async function startCollector() {
  const spans: Span[] = []
  const texts: string[] = []
  const server = createServer(async (request, response) => {
    expect([request.method, request.url, request.headers['content-type']]).toEqual(['POST', '/v1/traces', 'application/json'])
    const body = (await json(request)) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
    texts.push(JSON.stringify(body))
    spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, texts }
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

it('traces an invite from the request to the mail, and exposes no recipient and no key', async () => {
  const { url: DATABASE_URL, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const collector = await startCollector()
  const smtp = await startSmtpListener()
  onTestFinished(() => smtp.close())
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const process = await startProcess({ DATABASE_URL, SMTP_URL: smtp.url, ...traces })
  const organization = await make.organization()
  const { id: assessmentId } = await make.assessment(organization.id)
  const candidate = { recipientEmail: 'grace@example.com', recipientName: 'Grace Hopper' }
  const made = await fetch(`${process.url}/api/v1/invites`, {
    method: 'POST',
    headers: {
      'x-api-key': organization.key,
      'content-type': 'application/json',
      traceparent: `00-${TRACE}-${PARENT}-01`,
    },
    body: JSON.stringify({ assessmentId, ...candidate }),
  })
  expect(made.status).toBe(201)
  await smtp.waitFor(1)
  const mail = await waitUntil('the mail to be traced', () => collector.spans.find(({ name }) => name === 'mail'))
  const job = await waitUntil('the job to be traced', () => collector.spans.find(({ spanId }) => spanId === mail.parentSpanId))
  expect([job.name, mail.traceId, job.traceId]).toEqual(['job invitation-email', TRACE, TRACE])
  const request = await waitUntil('the request', () =>
    collector.spans.find(({ name, traceId }) => name === 'POST /api/v1/invites' && traceId === TRACE),
  )
  expect([job.parentSpanId, request.parentSpanId, request.kind]).toEqual([request.spanId, PARENT, 2])
  expect(request.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '201' } })
  // Spans arrive in batches, in any order.
  await waitUntil('the statements of the request', () =>
    collector.spans.find(({ name, parentSpanId, kind }) => name === 'begin' && parentSpanId === request.spanId && kind === 3),
  )
  for (const { startTimeUnixNano, endTimeUnixNano } of collector.spans)
    expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true)

  const sent = await process.waitForLog('an invitation was sent')
  expect(sent).toMatchObject({ trace_id: TRACE, event: 'mail_sent' })
  expect(process.log().find(({ msg, route }) => msg === 'request' && route === '/api/v1/invites')).toMatchObject({
    trace_id: TRACE,
    span_id: request.spanId,
  })
  const all = collector.texts.join()
  for (const secret of [organization.key, candidate.recipientEmail, 'Hopper', assessmentId, '/i/'])
    expect(all).not.toContain(secret)
})

it("passes the trace on to a webhook, and follows the caller's decision not to sample", async () => {
  const { url: DATABASE_URL, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const collector = await startCollector()
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const process = await startProcess({ DATABASE_URL, WEBHOOK_ALLOW: '127.0.0.1', ...traces })
  const organization = await make.organization()
  const { id: assessmentId } = await make.assessment(organization.id)
  expect((await ask(process, organization.key, '/webhooks', { url: receiver.url, types: ['invite.created'] })).status).toBe(201)
  const headers = {
    'x-api-key': organization.key,
    'content-type': 'application/json',
    traceparent: `00-${TRACE}-${PARENT}-00`,
  }
  const body = JSON.stringify({ assessmentId, recipientEmail: 'a@example.com' })
  expect((await fetch(`${process.url}/api/v1/invites`, { method: 'POST', headers, body })).status).toBe(201)
  const [message] = await receiver.waitFor(1)
  const delivered = await waitUntil('the webhook', () => collector.spans.find(({ name }) => name === 'webhook'))
  expect(message!.headers.traceparent).toBe(`00-${delivered.traceId}-${delivered.spanId}-01`)
  expect(collector.spans.filter(({ traceId }) => traceId === TRACE)).toEqual([])
})

it.runIf(LONG)('continues while the collector is down, and logs that once', async () => {
  const { url: DATABASE_URL, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const process = await startProcess({ DATABASE_URL, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  const { key } = await make.organization()
  expect((await ask(process, key, '/invites')).status).toBe(200)
  await process.waitForLog('traces cannot be sent to the collector: they are lost until it is reachable')
  expect((await ask(process, key, '/invites')).status).toBe(200)
})

it('is off by default, and sends no trace headers', async () => {
  const { url: DATABASE_URL, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  const process = await startProcess({ DATABASE_URL, WEBHOOK_ALLOW: '127.0.0.1' })
  const organization = await make.organization()
  const { id: assessmentId } = await make.assessment(organization.id)
  expect((await ask(process, organization.key, '/webhooks', { url: receiver.url, types: ['invite.created'] })).status).toBe(201)
  expect((await ask(process, organization.key, '/invites', { assessmentId, recipientEmail: 'a@example.com' })).status).toBe(201)
  const [message] = await receiver.waitFor(1)
  expect(message!.headers).not.toHaveProperty('traceparent')
  expect(process.log().filter((line) => 'trace_id' in line)).toEqual([])
})
