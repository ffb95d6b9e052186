import { expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { examplesOf, makeDefined } from '../support/kinds.ts'
import { signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { openTab } from '../support/taking.ts'

// Only the grading view and the author's form may show a key.

const service = await startServiceForFile()

/** Text that only keys contain. Adding it to a key doesn't change which answers are right. */
const CANARY = '914.7352'
const canaries: Record<string, (key: never) => unknown> = {
  single_choice: () => ({ policy: 'weights', weights: { qkzvwtab: 100, mfpdxhce: 37 } }),
  multiple_choice: () => ({ policy: 'weights', weights: { qkzvwtab: 63, mfpdxhce: 37 } }),
  number: ({ answers }: { answers: object[] }) => ({ answers: [...answers, { value: CANARY, share: 37 }] }),
  // Candidates see the texts of all choices, so the key's own words ("pairs") serve as the canary.
  matching: (key: object) => key,
  // Candidates see all items, and the key has only their places, so its own word ("order") serves as the canary.
  ordering: (key: object) => key,
  short_text: (key: { accepted: object[] }) => ({ ...key, accepted: [...key.accepted, { text: CANARY, share: 37 }] }),
}
const DEFINED = examplesOf().map((example) => ({ ...example, key: canaries[example.responseType]!(example.key as never) }))
/** Matches the canary and the words of keys without one. */
const REVEALED = /914\.7352|"weights"|"policy":|"pairs":|"order":\[|"share":|data-score/

it('has a canary in the key of each kind', () => {
  expect(DEFINED.map(({ responseType }) => responseType).sort()).toEqual(Object.keys(canaries).sort())
})

it('reveals a key on no page of a candidate or client', async () => {
  const made = await makeDefined(service, DEFINED)
  const { candidate } = made
  const seen: string[] = []
  const look = async () => {
    for (const answer of [await candidate.open(), await candidate.session('get')]) {
      seen.push(`${JSON.stringify(answer.headers)} ${answer.text}`)
    }
  }
  await look()
  await made.start()
  await look()
  for (const [i, { right }] of DEFINED.entries()) {
    await candidate.press('open', { number: String(i + 1) })
    await look()
    await made.answer(i + 1, right)
    await look()
  }
  await candidate.press('finish')
  await look()
  const client = await signInAs(service, made.organization.id, ['client'])
  const { id } = await made.submission()
  for (const page of ['', 'results', `results/${id}`, `grading/${id}`, `submissions/${id}`, `invites/${made.invite.id}`]) {
    seen.push((await client.get(`${client.home}${page}`)).text)
  }
  const { key, apiKey } = await createApiKey(service.system, { organizationId: made.organization.id, name: 'm', mode: 'live' })
  await changeApiKey(service.system, apiKey.id, { rights: ['manage'] })
  const v1 = service.v1(key)
  for (const { id: questionId } of made.asked) {
    seen.push((await v1.get(`/assessments/${made.assessment.id}/questions/${questionId}/definition`).expect(200)).text)
  }
  for (const address of [
    `/invites/${made.invite.id}/submission`,
    '/submissions',
    `/invites/${made.invite.id}/submission/grades`,
  ]) {
    seen.push((await v1.get(address).expect(200)).text)
  }
  expect(seen.length).toBeGreaterThan(30)
  expect(seen.filter((text) => REVEALED.test(text))).toEqual([])
  const grader = await signInAs(service, made.organization.id, ['grader'])
  expect((await grader.get(`${grader.home}grading/${id}`)).text).toContain(CANARY)
})

it('returns the same bytes when saving right and wrong answers', async () => {
  const made = await makeDefined(service, DEFINED)
  await made.start()
  const tab = await openTab(service, made.candidate)
  for (const [i, { right, wrong, responseType }] of DEFINED.entries()) {
    const number = i + 1
    await made.candidate.press('open', { number: String(number) })
    const kind = service.deps.kinds.get(responseType)!
    const save = async (answer: unknown, revision: number) => {
      const text = new URLSearchParams(kind.toForm(answer).map((value): [string, string] => ['answer', value])).toString()
      const reply = await made.candidate.session('put', `/questions/${number}/text`, { tab, body: { text, revision } })
      return [reply.status, reply.text.replace(String(revision), 'n'), reply.headers['content-length']]
    }
    expect(await save(wrong, 1)).toEqual(await save(right, 2))
    await made.candidate.press('next', { number: String(number) })
  }
})
