import { answerWith, type Behavior, type Received, startReceiver } from '../receiver.ts'
import { waitUntil } from '../wait-until.ts'

// A fake of Greenhouse, written from docs/ats.md. It proves only that the service follows that document.

/** A PATCH that Greenhouse received. @property seen response of test_status that Greenhouse read before it answered the PATCH. */
export type Patched = Pick<Received, 'headers' | 'body' | 'method' | 'path'> & {
  orderId: string
  // biome-ignore lint/suspicious/noExplicitAny: a response of the service
  seen: any
}
// biome-ignore lint/suspicious/noExplicitAny: a response of the service
type Answer = { status: number; body: any }

export type GreenhouseCandidate = Record<string, unknown>

export const basic = (user: string, password = ''): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/**
 * Starts a Greenhouse account that has a customer's API key.
 *
 * @param url of the service.
 */
export async function startGreenhouse({ url, key }: { url: string; key: string }) {
  const patched: Patched[] = []
  const interviewOf = new Map<string, string>()
  let behave: Behavior = answerWith(200)
  let count = 0

  async function call(method: string, path: string, body?: unknown, authorization = basic(key)): Promise<Answer> {
    const headers = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${url}/ats/greenhouse/${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: await answer.json() }
  }

  const status = (interviewId: string) => call('GET', `test_status?partner_interview_id=${encodeURIComponent(interviewId)}`)

  // When Greenhouse gets a PATCH, it reads the order's state before it answers.
  const receiver = await startReceiver((response, message, request) => {
    const orderId = message.path.split('/').at(-1)!
    const { headers, body, method, path } = message
    const interviewId = interviewOf.get(orderId)
    const read = interviewId === undefined ? Promise.resolve({ body: null }) : status(interviewId)
    read
      .catch(() => ({ body: null })) // the service was killed
      .then(({ body: seen }) => {
        patched.push({ headers, body, method, path, orderId, seen })
        behave(response, message, request)
      })
  })
  const callback = (orderId: string) => `http://127.0.0.1:${receiver.port}/v1/partner/interviews/${orderId}`

  return {
    receiver,
    patched,
    callback,
    call,
    status,
    listTests: () => call('GET', 'list_tests'),
    /** Sends a test with all required fields. `candidate` and `fields` override them. */
    async sendTest(testId: string, candidate: GreenhouseCandidate = {}, fields: Record<string, unknown> = {}) {
      const orderId = `order-${++count}`
      const body = {
        partner_test_id: testId,
        candidate: {
          ...{ first_name: 'Sam', last_name: 'Tester', preferred_name: 'Sammy', email: `sam${count}@example.com` },
          ...{ phone_number: null, resume_url: null },
          greenhouse_profile_url: 'https://app.greenhouse.io/people/17?application_id=26',
          ...candidate,
        },
        sent_by: 'recruiter@example.com',
        url: callback(orderId),
        ...fields,
      }
      const answer = await call('POST', 'send_test', body)
      if (answer.status === 200) interviewOf.set(orderId, answer.body.partner_interview_id)
      return { ...answer, orderId, interviewId: answer.body.partner_interview_id as string }
    },
    complain: (body: unknown) => call('POST', 'response_error', body),
    /** Changes the responses to PATCH requests. */
    behave: (next: Behavior) => {
      behave = next
    },
    waitFor: (count: number) => waitUntil(`${count} PATCHes`, () => (patched.length >= count ? patched : undefined)),
  }
}

export type Greenhouse = Awaited<ReturnType<typeof startGreenhouse>>
