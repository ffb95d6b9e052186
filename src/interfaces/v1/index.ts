import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import type { RateLimiter } from '../../http/limits/rate-limit.ts'
import { describeInterface } from '../../http/openapi/openapi.ts'
import { authenticateByApiKey, guardInterface } from '../../http/requests/guard.ts'
import { reportIgnoredInput } from '../../http/requests/ignored-input.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { assessmentSettingsRoutes } from './assessment-settings.routes.ts'
import { assessmentRoutes } from './assessments.routes.ts'
import { auditEntryRoutes } from './audit-entries.routes.ts'
import { erasureRoutes } from './erasures.routes.ts'
import { errorDescription, formatUnknownName, v1Envelope } from './errors.ts'
import { eventRoutes } from './events.routes.ts'
import { webhookMessages } from './events.view.ts'
import { gradingRoutes } from './grading.routes.ts'
import { inviteBatchRoutes } from './invite-batches.routes.ts'
import { inviteOperationRoutes } from './invite-operations.routes.ts'
import { inviteRoutes } from './invites.routes.ts'
import { showEventsCursor } from './list.ts'
import { memberEditingRoutes } from './member-editing.routes.ts'
import { memberRoutes } from './members.routes.ts'
import { openLinkRoutes } from './open-link.routes.ts'
import { questionEditingRoutes } from './question-editing.routes.ts'
import { questionImportRoutes } from './question-imports.routes.ts'
import { questionMediaRoutes } from './question-media.routes.ts'
import { structureRoutes } from './structure.routes.ts'
import { submissionRoutes } from './submissions.routes.ts'
import { suppressionRoutes } from './suppressions.routes.ts'
import { tagRoutes } from './tags.routes.ts'
import { testDataRoutes } from './test-data.routes.ts'
import { validateWithSchemas } from './validation.ts'
import { webhookDeliveryRoutes } from './webhook-deliveries.routes.ts'
import { webhookRoutes } from './webhooks.routes.ts'
import { WebhookHeaders } from './webhooks.view.ts'

export const KEY_HEADER = 'x-api-key'

const introduction = `Read an organization's assessments, questions and members, read and write its tags, and invite candidates.
An API key belongs to one organization; every answer is limited to it. Each invite is mailed to the candidate automatically.`

const tags = {
  Assessments: 'Assessments and their questions. Only live keys with the right “manage” can change them.',
  'Question imports': 'Files of questions for the library. Only live keys with the right “manage” can import them.',
  Members: 'People who work in the organization. Only live keys with the right “manage” can change them.',
  Invites: 'Invites of candidates to assessments. Creating one mails the candidate.',
  'Invite operations': 'Operations on an existing invite, and its mails.',
  'Invite batches': 'Inviting many candidates with one request.',
  Submissions: 'Candidates’ submissions, and released results.',
  Events: 'Changes of invites and their mails, to keep a copy without reading lists again.',
  'Audit log': 'Who did what in the organization.',
  Webhooks: 'Addresses that receive each event as it happens.',
  Suppressions: 'Addresses that get no mails, because mails bounced, were marked as spam, or a member or key added them.',
  Erasure: 'Permanent erasure of everything about an address.',
  Tags: 'Labels of assessments, invites and members.',
  'Test data': 'Simulating and deleting test data. Only for test keys.',
}

const webhooks = {
  tag: 'Webhooks',
  messages: webhookMessages,
  headers: WebhookHeaders,
  successDescription: 'Any of these within 15 s: the event has arrived',
  failureDescription: 'Any other answer, a redirect, or none: the event is sent again later. 410 disables the webhook',
}

/**
 * The camelCase interface of v1.md. Register it in its own scope, with the prefix of {@link v1Envelope}.
 *
 * @returns its OpenAPI document, once the app is ready.
 */
export async function v1Interface(
  app: FastifyInstance,
  { system, limiter }: { system: ServiceContext; limiter: RateLimiter },
): Promise<() => object> {
  const title = 'Assessment Invitation Service, API v1'
  const document = describeInterface(app, {
    title,
    introduction,
    keyHeader: KEY_HEADER,
    tags,
    webhooks,
    errors: errorDescription,
  })
  guardInterface(app, { authenticate: authenticateByApiKey(system, KEY_HEADER), limiter, envelope: v1Envelope })
  reportIgnoredInput(app, formatUnknownName)
  validateWithSchemas(app)
  showEventsCursor(app)

  const typed: TypedApp = app.withTypeProvider<TypeBoxTypeProvider>()
  assessmentRoutes(typed)
  assessmentSettingsRoutes(typed)
  openLinkRoutes(typed)
  questionEditingRoutes(typed)
  structureRoutes(typed)
  questionMediaRoutes(typed)
  questionImportRoutes(typed)
  memberRoutes(typed)
  memberEditingRoutes(typed)
  inviteRoutes(typed)
  submissionRoutes(typed)
  gradingRoutes(typed)
  inviteOperationRoutes(typed)
  inviteBatchRoutes(typed)
  eventRoutes(typed)
  auditEntryRoutes(typed)
  webhookDeliveryRoutes(typed)
  webhookRoutes(typed)
  suppressionRoutes(typed)
  erasureRoutes(typed)
  tagRoutes(typed)
  testDataRoutes(typed)
  return document
}
