import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { Webhook } from 'standardwebhooks'
import { createApiKey } from '../domain/api-keys/api-keys.ts'
import type { ServiceContext } from '../domain/context.ts'
import { findOrganization, listOrganizations } from '../domain/organization/organizations.ts'
import { PATHS } from '../runtime/paths.ts'
import type { Output, OutputOptions } from './output.ts'
import { addCommand, runCommand } from './session.ts'

type Options = OutputOptions & { url?: string; key?: string }

/** Deliveries are attempted at once; a busy machine may take longer. */
const WEBHOOK_WITHIN_MS = 30_000

/** `sandbox`: runs an integrator's first steps and prints each as a curl command. */
export function addSandboxCommand(program: Command): void {
  addCommand(program, 'sandbox', 'run an invite with test data on the running service, up to its released result')
    .argument('[organization]', 'id or name; default: the only one')
    .option('--key <key>', 'a test key of the organization; default: creates one')
    .option('--url <url>', 'URL of the service; default: PUBLIC_URL')
    .action((organization: string | undefined, options: Options) =>
      runCommand(options, async ({ operator, site }) => {
        const key = options.key ?? (await createSandboxKey(operator, organization))
        const say = options.json ? () => {} : (line: string) => void process.stdout.write(`${line}\n`)
        return runSteps(createApi(options.url ?? site.publicUrl, key, say), say)
      }),
    )
}

async function createSandboxKey(operator: ServiceContext, idOrName: string | undefined): Promise<string> {
  const organizations = idOrName === undefined ? await listOrganizations(operator) : [await findOrganization(operator, idOrName)]
  const [only, another] = organizations
  if (!only || another) throw new Error('Say which organization: npm run cli -- org list')
  const name = `Sandbox ${operator.deps.clock().toISOString()}`
  return (await createApiKey(operator, { organizationId: only.id, name, mode: 'test' })).key
}

type PrintLine = (line: string) => void
// biome-ignore lint/suspicious/noExplicitAny: any JSON of the service
type ApiResponse = { status: number; body: any }
type Api = (method: string, path: string, body?: object) => Promise<ApiResponse>

/** Creates a client that prints each call as curl. @throws Error if the service can't be reached. */
function createApi(url: string, key: string, say: PrintLine): Api {
  say(`export SERVICE=${url.replace(/\/$/, '')}\nexport KEY=${key}`)
  return async (method, path, body) => {
    const bodyOption = body && ` \\\n  -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
    say(`  curl -s -X ${method} "$SERVICE${PATHS.v1}${path}" -H "x-api-key: $KEY"${bodyOption ?? ''}`)
    const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(new URL(PATHS.v1 + path, url), init).catch((cause) => {
      throw new Error(`No service answers at ${url}. Start it: npm start`, { cause })
    })
    return { status: response.status, body: await response.json() }
  }
}

/** Returns the body of a successful response. @throws Error with the service's message. */
async function expectOk(answer: Promise<ApiResponse>) {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`The service answers ${status}: ${body.error}`)
  return body
}

async function runSteps(api: Api, say: PrintLine): Promise<Output> {
  await using receiver = await listen()
  say(`\nA webhook to ${receiver.url}, which this command listens at:`)
  const subscribed = await api('POST', '/webhooks', { url: receiver.url, types: ['submission.released'] })
  const webhook = subscribed.status === 201 ? subscribed.body : null
  say(
    webhook
      ? `  its secret is ${webhook.secret}`
      : `  refused: ${subscribed.body.error}. Start the service with WEBHOOK_ALLOW=127.0.0.1`,
  )

  say('\nAn assessment that asks something:')
  const { assessments } = await expectOk(api('GET', '/assessments?limit=100'))
  const assessment = assessments.find(({ questionCount }: { questionCount: number }) => questionCount > 0)
  if (!assessment) throw new Error('The organization has no assessment with questions')
  say(`  ${assessment.name}`)

  say('\nAn invite to it, which is mailed to nobody:')
  const recipientEmail = `sandbox.${crypto.randomUUID()}@example.com`
  const { invite } = await expectOk(api('POST', '/invites', { assessmentId: assessment.id, recipientEmail }))
  for (const [action, description] of [
    ['complete', 'The candidate accepts, starts, answers, and submits'],
    ['grade', 'A grader grades'],
    ['release', 'The result is released'],
  ] as const) {
    say(`\n${description}:`)
    const { invite: after } = await expectOk(api('POST', `/invites/${invite.id}/simulate`, { action }))
    say(`  the invite is ${after.status}`)
  }

  say('\nThe result:')
  const { state, result } = await expectOk(api('GET', `/invites/${invite.id}/submission`))
  say(`  ${state}, ${result.points} of ${result.ofPoints} points`)

  const delivered = webhook && (await receiver.receive(webhook.secret))
  if (delivered) say(`\nThe webhook: ${delivered.type}, ${delivered.data.percent} percent. Its signature is right.`)
  if (webhook) await expectOk(api('DELETE', `/webhooks/${webhook.webhook.id}`))
  say(`\nTo delete all test data:\n  curl -s -X DELETE "$SERVICE${PATHS.v1}/test-data" -H "x-api-key: $KEY"`)
  return { text: '', json: { inviteId: invite.id, state, result, webhook: delivered ? 'verified' : 'refused' } }
}

type Event = { type: string; data: { percent: number | null } }

/** Starts a webhook receiver on localhost. @returns the first message, with verified signature. */
async function listen() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const arrived = Promise.withResolvers<{ body: string; headers: Record<string, string> }>()
  server.on('request', async (request, response) => {
    arrived.resolve({ body: await text(request), headers: request.headers as Record<string, string> })
    response.writeHead(204).end()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async receive(secret: string): Promise<Event> {
      const timeout = sleep(WEBHOOK_WITHIN_MS, null, { ref: false })
      const message = await Promise.race([arrived.promise, timeout])
      if (!message) throw new Error('The webhook has not arrived: does the service run on this machine?')
      return new Webhook(secret).verify(message.body, message.headers) as Event
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
