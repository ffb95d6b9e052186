import { answerWith, type Received, startReceiver } from '../receiver.ts'

// A fake of Recruitee, written from docs/ats.md. It proves only that the service follows that document.

// biome-ignore lint/suspicious/noExplicitAny: a response of the service
type Answer = { status: number; body: any }

export const bearer = (token: string): string => `Bearer ${token}`

/** A change of a report that Recruitee received. */
type Change = Pick<Received, 'headers' | 'method' | 'path'> & { reportId: string; change: Received['event'] }

/** Starts the fake Recruitee. @returns its URL, for the service's setting, and the changes that it receives. */
export async function listenAsRecruitee() {
  const changes: Change[] = []
  const receiver = await startReceiver((response, message, request) => {
    const { headers, method, path, event } = message
    changes.push({ headers, method, path, reportId: path.split('/').at(-1)!, change: event })
    answerWith(200)(response, message, request)
  })
  return { receiver, changes, url: `http://127.0.0.1:${receiver.port}/api/p/codename` }
}

/** Creates a Recruitee company with an API key of the service. @param of URL and key, read again at each call. */
export function createRecruitee(of: { url: string; key: string }) {
  let count = 0
  async function call(method: string, name: string, body?: unknown, authorization = bearer(of.key)): Promise<Answer> {
    const headers = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${of.url}/ats/recruitee/${name}`, { method, headers, ...sent })
    return { status: answer.status, body: await answer.json() }
  }
  return {
    call,
    tests: () => call('GET', 'tests'),
    /** Sends a candidate with all required fields. `fields` overrides them. */
    async send(testId: string, fields: Record<string, unknown> = {}) {
      const reportId = crypto.randomUUID()
      const person = { first_name: 'Sam', last_name: 'Tester', email: `sam${++count}@example.com` }
      const ids = { candidate_id: 17, company_id: 26, report_id: reportId, test_id: testId, test_name: 'Any' }
      return { ...(await call('POST', 'send_candidate', { ...person, ...ids, ...fields })), reportId }
    },
  }
}
