import { mayGrantScopes } from '../../../domain/api-keys/manage-keys.ts'
import { KEY_SCOPES, type KeyScope } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Html } from '../../../html/html.ts'
import { area, checkboxes, type Form } from '../kit/forms.ts'

const SCOPE_WORDS: Record<KeyScope, string> = {
  'assessments:read': 'Read assessments and questions',
  'assessments:write': 'Create, change and delete assessments and questions',
  'invites:read': 'Read invites, their emails and tags',
  'invites:write': 'Invite candidates, and change, resend and revoke invites; the links of candidates; test data',
  'members:read': 'Read members',
  'members:write': 'Invite and change members',
  'tags:read': 'Read tags',
  'tags:write': 'Create, change and delete tags',
  'results:read': 'Read submissions, grades and results',
  'results:write': 'Assign graders, grade, and release results',
  'transcripts:read': 'Read transcripts of recorded answers',
  'events:read': 'Follow events',
  'webhooks:manage': 'Manage webhooks',
  'audit:read': 'Read the audit log',
  'candidates:erase': 'Erase candidates',
}

/** Sets of scopes that one button selects. */
export const PRESETS: Record<string, readonly KeyScope[]> = {
  read: ['assessments:read', 'invites:read', 'members:read', 'tags:read', 'results:read', 'events:read'],
  invite: ['assessments:read', 'invites:read', 'invites:write', 'tags:read'],
}

/** True if the folded part of the form is filled in. */
export const isRestricting = ({ values }: Form): boolean => values.has('scopes') || (values.get('networks') ?? '').trim() !== ''

export const scopeBoxes = (ctx: Context, form: Form, values: readonly string[] = []): Html =>
  checkboxes(form, {
    name: 'scopes',
    label: 'Scopes',
    hint: 'With scopes, the key can do only what you tick.',
    options: KEY_SCOPES.filter((scope) => mayGrantScopes(ctx, [scope])).map((scope) => [scope, SCOPE_WORDS[scope]] as const),
    values,
  })

export const networkLines = (form: Form, address: string, networks: readonly string[] = []): Html =>
  area(form, {
    name: 'networks',
    label: 'Addresses it can be used from',
    hint: `One address or network per line, such as 203.0.113.0/24. Empty: anywhere. Your address is ${address}.`,
    value: networks.join('\n'),
  })
