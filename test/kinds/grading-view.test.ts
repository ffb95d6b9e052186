import { expect, it } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { releaseResult } from '../../src/domain/submissions/grading/release-result.ts'
import { saveGrade } from '../../src/domain/submissions/grading/save-grade.ts'
import { toText } from '../../src/html/html.ts'
import { definedKinds } from '../../src/kinds/index.ts'
import { asMember } from '../support/grading.ts'
import { examplesOf, makeDefined } from '../support/kinds.ts'
import { signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()
const EXAMPLES = examplesOf()

it.each(definedKinds.filter(({ files }) => !files).flatMap((kind) => kind.examples.map((example) => ({ kind, ...example }))))(
  'marks a $responseType answer as right or wrong in words',
  ({ kind, spec, key, right, wrong }) => {
    const shown = kind.arrange(spec, () => 0) ?? []
    const sheet = (value: unknown) => {
      const score = kind.score(spec, key, value)
      return toText(kind.gradingView({ spec, key, shown, value, parts: score.state === 'scored' ? score.parts : [] }))
    }
    expect(sheet(right)).toContain('>right<')
    expect(sheet(right)).not.toContain('>wrong<')
    expect(sheet(wrong)).toContain('>wrong<')
    expect(toText(kind.gradingView({ spec, key, shown, value: null, parts: [] }))).not.toMatch(/>(right|wrong)</)
  },
)

it('shows answer and key to graders, and releases the scorer with the result only', async () => {
  const made = await makeDefined(service, EXAMPLES)
  const submissionId = await made.take(EXAMPLES.map(({ right, wrong }, i) => (i === 0 ? wrong : right)))
  const grader = await signInAs(service, made.organization.id, ['grader'])
  const { text } = await grader.get(`${grader.home}grading/${submissionId}`)
  expect(text.match(/data-score/g)).toHaveLength(EXAMPLES.length)
  for (const word of ['missed', 'wrong', 'right', 'rightly left out']) expect(text).toContain(`>${word}<`)
  const { key } = await createApiKey(service.system, { organizationId: made.organization.id, name: 'reader', mode: 'live' })
  const read = () => service.v1(key).get(`/invites/${made.invite.id}/submission`).expect(200)
  expect((await read()).body.questions.map(({ grade }: { grade: unknown }) => grade)).toEqual(EXAMPLES.map(() => null))
  const ctx = asMember(service, made.organization, grader.member)
  await saveGrade(ctx, { submissionId, number: 1, points: 4, comment: 'Nearly', seen: service.clock.now() })
  await releaseResult(ctx, { submissionId, comment: '', message: '', toCandidate: false })
  const [first, ...others] = (await read()).body.questions.map(({ grade }: { grade: unknown }) => grade)
  expect(first).toEqual({ points: 4, comment: 'Nearly' })
  expect(others).toEqual(others.map(() => ({ points: 10, comment: '', by: 'key', keyNumber: 1 })))
})
