import { expect, it } from 'vitest'
import { mistakesIn } from '../../support/forms.ts'
import { links } from '../../support/links.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile()

/** Creates an admin and the rows that forms refer to. The invite and the copied assessment are not among the rows that get deleted. */
async function start() {
  const { make, db } = service
  const organization = await make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const tag = await make.tag(organization.id)
  const assessment = await make.assessment(organization.id)
  const tagged = await make.assessment(organization.id)
  await links(db).tagAssessment(tagged, tag)
  const invite = await make.invite(tagged)
  return { organization, admin, tag, assessment, tagged, invite }
}
type Started = Awaited<ReturnType<typeof start>>

const assessmentFields = ({ tag, tagged }: Started) => ({ name: 'French', tags: tag.name, seen: tagged.updatedAt.toISOString() })
const inviteFields = ({ tagged, tag }: Started) => ({
  assessmentId: tagged.id,
  recipientEmail: 'sam@example.com',
  tagIds: tag.id,
})

/** Forms that refer to a tag or an assessment: path, fields, what is deleted meanwhile, status, and error message. */
const forms: Record<
  string,
  [(of: Started) => string, (of: Started) => Record<string, string>, 'tag' | 'assessment', number, RegExp?]
> = {
  'a member': [
    ({ admin }) => `members/${admin.member.id}`,
    ({ tag }) => ({ roles: 'admin', tags: tag.id }),
    'tag',
    422,
    /There is no tag/,
  ],
  'a new invite': [() => 'invites', inviteFields, 'tag', 422, /There is no such tag/],
  'an invite': [
    ({ invite }) => `invites/${invite.id}/tags`,
    ({ tag }) => ({ tagIds: tag.id }),
    'tag',
    422,
    /There is no such tag/,
  ],
  'a new assessment': [() => 'assessments', assessmentFields, 'tag', 422, /There is no tag with the name/],
  'an assessment': [
    ({ tagged }) => `assessments/${tagged.id}/edit`,
    assessmentFields,
    'tag',
    422,
    /There is no tag with the name/,
  ],
  'the copy of an assessment': [({ tagged }) => `assessments/${tagged.id}/duplicate`, () => ({}), 'tag', 303],
  'the tag itself': [({ tag }) => `tags/${tag.id}`, () => ({ name: 'New', color: '#123456' }), 'tag', 404],
  'a new invite to it': [
    () => 'invites',
    ({ assessment }) => ({ assessmentId: assessment.id, recipientEmail: 'sam@example.com' }),
    'assessment',
    422,
    /There is no such assessment/,
  ],
  'a list of candidates for it': [
    () => 'invites/batches',
    ({ assessment }) => ({ assessmentId: assessment.id, list: 'sam@example.com' }),
    'assessment',
    422,
    /There is no such assessment/,
  ],
  'a question of it': [
    ({ assessment }) => `assessments/${assessment.id}/questions`,
    () => ({ inputType: 'text', responseType: 'text', script: 'Why?' }),
    'assessment',
    404,
  ],
  'the copy of it': [({ assessment }) => `assessments/${assessment.id}/duplicate`, () => ({}), 'assessment', 404],
}

const isWaiting = async () => {
  const held = await service.db.$queryRaw<object[]>`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return held.length > 0
}

it.each(Object.keys(forms))(
  'names the deleted object, without an error, if it is deleted while a form is saved: %s',
  async (name) => {
    const started = await start()
    const [path, fields, what, status, mistake] = forms[name]!
    const { admin } = started
    let hasAnswered = false
    const answer = await service.db.$transaction(async (deleting) => {
      const where = { id: started[what].id }
      if (what === 'tag') await deleting.tag.delete({ where })
      else await deleting.assessment.delete({ where })
      const sent = admin.post(admin.home + path(started), fields(started)).then((response) => {
        hasAnswered = true
        return response
      })
      await waitUntil('the form to wait for the deletion', async () => hasAnswered || (await isWaiting()) || undefined)
      return { sent } // an object, because a returned promise would be awaited before the deletion is committed
    })
    const response = await answer.sent
    expect([response.status, response.headers.location]).toEqual([status, status === 303 ? expect.any(String) : undefined])
    if (mistake) expect(mistakesIn(response)).toEqual([expect.stringMatching(mistake)])
  },
)
