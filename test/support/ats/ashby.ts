import { answerWith, type Behavior, type Received, startReceiver } from '../receiver.ts'
import { basic } from './greenhouse.ts'

// A fake of Ashby, written from docs/ats.md. It proves only that the service follows that document.

// biome-ignore lint/suspicious/noExplicitAny: a response of the service
type Answer = { status: number; body: any }

/** Validates an update against Ashby's schema. @returns the problem, or undefined. */
export function findFault(update: Received['event']): string | undefined {
  const { assessment_id, timestamp, assessment_status, assessment_profile_url, assessment_result, cancelled_reason, ...rest } =
    update
  const { metadata = [], ...unknown } = rest
  if (Object.keys(unknown).length > 0) return `unknown: ${Object.keys(unknown)}`
  if (!/^[0-9a-f-]{36}$/.test(assessment_id)) return 'assessment_id'
  if (!Number.isInteger(timestamp) || timestamp < 1_600_000_000_000) return 'timestamp'
  if (!assessment_status && !cancelled_reason) return 'assessment_status'
  if (assessment_result && !assessment_profile_url) return 'assessment_profile_url'
  if (assessment_profile_url && assessment_profile_url.type !== 'url') return 'the type of assessment_profile_url'
  const values = [assessment_status, assessment_profile_url, assessment_result, cancelled_reason, ...metadata].filter(Boolean)
  const identifiers = values.map(({ identifier }) => identifier)
  if (new Set(identifiers).size < identifiers.length) return 'an identifier that comes twice'
  return values.some((value) => !isDataValue(value)) ? 'a data value' : undefined
}

const TYPES = ['numeric_score', 'numeric_duration_minutes', 'url', 'string', 'boolean_success']
const isDataValue = ({ identifier, label, type, value }: Record<string, unknown>): boolean =>
  typeof identifier === 'string' &&
  typeof label === 'string' &&
  TYPES.includes(String(type)) &&
  typeof value === (String(type).startsWith('numeric') ? 'number' : 'string')

/** An update that Ashby received. */
export type Update = Pick<Received, 'headers' | 'method' | 'path' | 'event'> & { fault: string | undefined }

/** Starts the fake Ashby. @returns its URL, for the service's setting, and its customers. */
export async function listenAsAshby() {
  /** Customers by the Authorization header of their updates. */
  const customers = new Map<string, { updates: Update[]; behavior: Behavior }>()
  const receiver = await startReceiver((response, message, request) => {
    const { headers, method, path, event } = message
    // Ashby's edge rejects requests without a User-Agent.
    if (!headers['user-agent']) return void response.writeHead(403).end('error code: 1010')
    const customer = customers.get(headers.authorization!)
    customer?.updates.push({ headers, method, path, event, fault: findFault(event) })
    const { behavior = answerWith(401) } = customer ?? {}
    behavior(response, message, request)
  })
  return {
    receiver,
    url: `http://127.0.0.1:${receiver.port}`,
    /** Adds a customer with this key. @returns the updates that it receives, and a function that changes the responses. */
    customer(theirKey: string) {
      const customer = { updates: [] as Update[], behavior: answerWith(200, {}, '{"success":true}') }
      customers.set(basic(theirKey), customer)
      return {
        updates: customer.updates,
        behave: (next: Behavior) => {
          customer.behavior = next
        },
      }
    },
  }
}

/** Creates an Ashby organization with an API key of the service. @param of URL and key, read again at each call. */
export function createAshby(of: { url: string; key: string }) {
  let count = 0
  async function call(name: string, body: unknown = {}, authorization = basic(of.key)): Promise<Answer> {
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${of.url}/ats/ashby/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, body: await answer.json() }
  }
  return {
    call,
    list: () => call('assessment.list'),
    cancel: (assessmentId: unknown) => call('assessment.cancel', { assessment_id: assessmentId }),
    /** Starts an assessment with all required fields. `candidate` and `fields` override them. */
    async start(typeId: string, candidate: Record<string, unknown> = {}, fields: Record<string, unknown> = {}) {
      const id = `${crypto.randomUUID()}-${++count}`
      const answer = await call('assessment.start', {
        assessment_type_id: typeId,
        candidate: {
          ...{ ashby_id: id, first_name: 'Sam', last_name: 'Tester', email: `sam${count}@example.com` },
          ashby_profile_url: 'https://app.ashbyhq.com/candidates/1',
          ...candidate,
        },
        application: { ashby_id: id, status: 'Active' },
        job: {
          ashby_id: 'job',
          name: 'Engineer',
          ashby_job_url: 'https://app.ashbyhq.com/jobs/1',
          hiringTeam: [{ userId: 'x' }],
        },
        ...fields,
      })
      return { ...answer, assessmentId: answer.body.results?.assessment_id as string }
    },
  }
}
