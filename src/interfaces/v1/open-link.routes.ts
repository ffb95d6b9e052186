import { type Static, Type } from '@sinclair/typebox'
import { EXPIRY_DAYS, MAX_INVITE_TAGS } from '../../domain/limits.ts'
import { LINK_INVITES, MAX_EMAIL_DOMAINS } from '../../domain/open-links/limits.ts'
import {
  changeOpenLink,
  DEFAULT_OPEN_LINK,
  getOpenLink,
  type OpenLink,
  type OpenLinkSettings,
} from '../../domain/open-links/open-links.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { DateTime, NonBlankText, Nullable, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { AssessmentParams, managing } from './assessment-settings.routes.ts'

// Beyond v1.md: the open link of an assessment.

const settings = {
  isOn: Type.Boolean({
    description: 'True if the link is on. A link that is off, or of an assessment by invitation only, is not found',
  }),
  opensAt: Nullable(DateTime('Time from which people can begin; null: at once')),
  closesAt: Nullable(DateTime('Time from which nobody can begin any more; null: never')),
  maxInvites: Nullable(
    Type.Integer({ ...LINK_INVITES, description: 'Highest number of people who can begin; null: any number' }),
  ),
  emailDomains: Type.Array(NonBlankText({ maxLength: 253 }), {
    maxItems: MAX_EMAIL_DOMAINS,
    description: 'Email domains that can register; empty: all',
  }),
  tagIds: Type.Array(Uuid(), { maxItems: MAX_INVITE_TAGS, description: 'Tags of its invites' }),
  inviteDays: Type.Integer({ ...EXPIRY_DAYS, description: 'Days until its invites expire' }),
  dailyInvites: Type.Integer({ ...LINK_INVITES, description: 'Highest number of people who can begin within 24 hours' }),
  notifiesMembers: Type.Boolean({ description: 'True if the daily mail of members, who switch it on, counts its invites' }),
}

export const OpenLinkBody = Type.Partial(Type.Object(settings), {
  [NAME]: 'OpenLinkSettings',
  examples: [{ isOn: true, maxInvites: 200, inviteDays: 14 }],
})

export const OpenLinkView = Type.Object(
  {
    openLink: Type.Object(
      {
        url: Nullable(
          Type.String({ format: 'uri', description: 'Address of the link; null before its settings are first saved' }),
        ),
        ...settings,
        invitesCreated: Type.Integer({ description: 'Number of people who have begun' }),
      },
      { [NAME]: 'OpenLink' },
    ),
  },
  { [NAME]: 'OneOpenLink', description: 'The open link' },
)

const present = ({ updatedAt: _, opensAt, closesAt, ...link }: OpenLink): Static<typeof OpenLinkView> => ({
  openLink: { ...link, opensAt: opensAt?.toISOString() ?? null, closesAt: closesAt?.toISOString() ?? null },
})

/** Omitted settings get their defaults, because PUT replaces all settings. */
const toSettings = ({ opensAt, closesAt, ...body }: Static<typeof OpenLinkBody>): OpenLinkSettings => ({
  ...DEFAULT_OPEN_LINK,
  ...body,
  opensAt: opensAt ? new Date(opensAt) : null,
  closesAt: closesAt ? new Date(closesAt) : null,
})

const tags = ['Assessments']

/** Beyond v1.md: reads and replaces the settings of an assessment's open link in the key's mode, live or test. */
export function openLinkRoutes(app: TypedApp): void {
  app.get(
    '/assessments/:assessmentId/open-link',
    {
      schema: {
        tags,
        operationId: 'getOpenLink',
        scope: 'assessments:read',
        summary: "Get an assessment's open link",
        description:
          'The link that lets people start a public assessment without an invite, and its settings. Test keys read the test link.',
        params: AssessmentParams,
        response: { 200: OpenLinkView },
        hasEtag: true,
        errors: ['assessment_not_found'],
      },
    },
    async ({ ctx, params }) => present(await getOpenLink(ctx, params.assessmentId)),
  )

  app.put(
    '/assessments/:assessmentId/open-link',
    {
      schema: {
        ...managing,
        changesOnlyOwnMode: true,
        tags,
        operationId: 'replaceOpenLinkSettings',
        scope: 'assessments:write',
        summary: "Set an assessment's open link",
        description:
          'Replaces the settings: an omitted one gets its default. The address of the link stays. Test keys set the test link, whose mails are captured.',
        params: AssessmentParams,
        body: OpenLinkBody,
        response: { 200: OpenLinkView },
        errors: ['assessment_not_found'],
      },
    },
    async ({ ctx, params, body }) => present(await changeOpenLink(ctx, params.assessmentId, toSettings(body))),
  )
}
