import { expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { signInAs, visit } from '../../support/portal.ts'
import { listPortalRoutes } from '../../support/portal-routes.ts'
import { createSampleOrganization } from '../../support/sample-organization.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeStructure } from '../../support/structure.ts'

const service = await startServiceForFile()

/** Every field of every form. */
const FIELDS = [
  ...[
    'name',
    'firstName',
    'lastName',
    'email',
    'password',
    'current',
    'mode',
    'expiry',
    'date',
    'roles',
    'department',
    'tags',
    'languages',
  ],
  ...[
    'color',
    'description',
    'senderName',
    'replyTo',
    'invitationText',
    'defaultQuestionFormat',
    'defaultAnswerFormat',
    'audience',
  ],
  ...[
    'timeLimit',
    'instructionTitle',
    'instruction',
    'categories',
    'skillTypes',
    'clients',
    'inputType',
    'responseType',
    'script',
  ],
  ...['audioUrl', 'videoUrl', 'points', 'sourceLanguage', 'targetLanguage', 'place', 'order', 'assessmentId', 'recipientEmail'],
  ...[
    'recipientName',
    'expiresInDays',
    'questionReplayLimit',
    'answerRecordLimit',
    'customMessage',
    'assignedGraderId',
    'tagIds',
    'list',
  ],
  ...['intro', 'navigation', 'draw', 'questions', 'section'],
  ...['url', 'types', 'seen', 'filterName', 'query', 'timeZone', 'pageSize', 'primaryColor', 'backgroundColor'],
]
/** Invalid values: too long, empty, of another type, and a past date. */
const WRONG: Record<string, string> = {
  long: 'x'.repeat(6_000),
  nothing: '',
  unknown: unknownId,
  past: '2001-01-01',
  gone: unknownId,
}

/** Forms that this organization does not show: its member is active and has no second factor, and it has no identity provider. */
const NOT_SHOWN = new Set([
  '/members/:memberId/reactivate',
  '/members/:memberId/reset-factors',
  '/settings/sign-in/enforce',
  '/settings/sign-in/own-ways',
])

const posts = (await listPortalRoutes(service.system)).flatMap((route) =>
  route.startsWith('POST ') ? [route.slice('POST '.length)] : [],
)

it.each([...posts, '/portal/sign-in', '/portal/forgot'])('links every mistake to its field: POST %s', async (path) => {
  const rows = await createSampleOrganization(service, service.make.unique('words').replace(' ', '.'))
  const { id: organizationId, assessment, question, invite, member, tag } = rows
  const admin = await signInAs(service, organizationId, ['admin'])
  const { id: keyId } = await service.db.apiKey.findFirstOrThrow({ where: { organizationId } })
  const ids: Record<string, string> = {
    ...{ assessmentId: assessment.id, questionId: question.id, inviteId: invite.id, memberId: member.id, tagId: tag.id, keyId },
    ...(await makeStructure(service, { organizationId, assessmentId: assessment.id, questionId: question.id })),
    ...{ webhookId: rows.webhook.id, deliveryId: rows.delivery.id },
  }
  const address = path.startsWith('/portal')
    ? path
    : admin.home.slice(0, -1) + path.replace(/:(\w+)/g, (_all, id) => ids[id] ?? unknownId)
  const person = path.startsWith('/portal') ? visit(service) : admin
  for (const [what, wrong] of Object.entries(WRONG)) {
    if (what === 'gone') await service.db.tag.deleteMany({ where: { organizationId } }) // removes the choices of a field
    const fields = { ...Object.fromEntries(FIELDS.map((field) => [field, wrong])), expiry: 'date' }
    const { status, text } = await person.post(address, fields)
    if (status !== 422 || NOT_SHOWN.has(path)) continue
    const targets = [...text.matchAll(/href="#(\w+)"/g)].map(([, id]) => id!).filter((id) => id !== 'main')
    const missing = targets.filter(
      (id) => !new RegExp(`<(input|select|textarea|fieldset|section|nav|p|div)[^>]* ?id="${id}"`).test(text),
    )
    expect([what, missing]).toEqual([what, []])
  }
})
