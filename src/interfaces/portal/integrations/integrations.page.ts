import { type ListedKey, mayGrantScopes } from '../../../domain/api-keys/manage-keys.ts'
import type { Context } from '../../../domain/context.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { confirmButton } from '../kit/confirm.ts'
import { time, timeAgo } from '../kit/formatting.ts'
import { checkboxes, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf, settingsPanel } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { copyBox, empty, factList, linkButton } from '../kit/parts.ts'
import { popup, popupButton } from '../kit/popup.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { isRestricting, networkLines, PRESETS, scopeBoxes } from './key-restrictions.ts'

const PATH = 'settings/integrations'

const NOTICES = new Map([['revoked', 'The key is revoked and no longer works.']])

const KEY_NOTICES = new Map([
  ['rights', 'The permissions are saved and apply from now on.'],
  ['limit', 'The rate limit is saved and applies from now on.'],
])

/** @property address the member's IP address, as the service sees it. @property preset name of one of {@link PRESETS}, or any other text. */
type KeyPageFacts = {
  ctx: Context
  apiKey: ListedKey
  hasPassword: boolean
  address: string
  preset?: string | undefined
  done?: string | undefined
}
/** @property longestDays longest validity of a new key in days; null if unlimited. */
type Facts = { ctx: Context; keys: ListedKey[]; address: string; longestDays: number | null; done?: string | undefined }

const EXPIRIES = [
  ['never', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'On a date'],
] as const

const GENERATING = { id: 'generate', label: 'New API key', icon: 'key-round' } as const

export function integrationsPage(form: Form, facts: Facts): Page {
  const { ctx, keys, done = '' } = facts
  const isRefused = form.issues.length > 0 && form.values.has('name')
  const generating = popup(GENERATING.id, 'Generate an API key', generateForm(facts, form), isRefused)
  return {
    title: 'Integrations',
    subtitle: 'With an API key, another system can work with your organization’s assessments and invites.',
    actions: html`${linkButton('/docs', 'Documentation', 'book-open')}${!isRefused && popupButton(GENERATING, 'btn btn-primary')}`,
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${isRefused && generating}<section class="panel" aria-labelledby="keys-heading">
<h2 class="mb-4" id="keys-heading">API keys</h2>
${
  keys.length === 0
    ? empty(
        'key-round',
        'There are no API keys yet. Generate one for the system that works with your invites.',
        !isRefused && popupButton({ ...GENERATING, label: 'Generate the first key' }, 'btn btn-sm'),
      )
    : keyTable(ctx, keys)
}
</section>
<div>${!isRefused && generating}</div>`,
  }
}

const generateForm = (
  { ctx, address, longestDays }: Facts,
  form: Form,
): Html => html`<form method="post" action="${pathOf(ctx, PATH)}">${onceField()}
${field(form, { name: 'name', label: 'Name', hint: 'What it is for, so that you recognize it.' })}
${choice(form, {
  name: 'mode',
  label: 'Mode',
  options: [
    ['live', 'Live'],
    ['test', 'Test: its invites send no emails'],
  ],
})}
${choice(form, {
  name: 'expiry',
  label: 'Expires',
  options: EXPIRIES.filter(([value]) => longestDays === null || value === 'date' || Number(value) <= longestDays),
  ...(longestDays !== null && {
    hint: `At most ${formatCount(longestDays, 'day')} from now: your organization allows no longer.`,
  }),
})}
<div class="if-date">${field(form, { name: 'expiresAt', label: 'Last day (UTC)', type: 'date', optional: true })}</div>
<details class="mb-4" ${isRestricting(form) && html`open`}><summary class="mb-3 text-sm font-medium">Restrict what it can do, and from where</summary>
${scopeBoxes(ctx, form)}
${networkLines(form, address)}
</details>
<button class="btn btn-primary">Generate API Key</button>
</form>`

const keyTable = (ctx: Context, keys: ListedKey[]): Html =>
  table(
    'keys-heading',
    ['Key', 'Created', 'Expires', 'Last used', 'Permissions', 'Status', '(Actions)'],
    keys.map((key) => [
      html`<a class="named block" href="${pathOf(ctx, `${PATH}/${key.id}`)}">${key.name}</a><code class="whitespace-nowrap font-normal">ak_${key.mode}_…${key.lastFour}</code>`,
      html`<span>${timeAgo(ctx, key.createdAt)} by ${makerOf(key)}</span>`,
      key.expiresAt ? timeAgo(ctx, key.expiresAt) : 'never',
      key.lastUsedAt
        ? html`<span>${timeAgo(ctx, key.lastUsedAt)}${key.lastUsedFrom !== null && html` from ${key.lastUsedFrom}`}</span>`
        : 'never',
      formatRestrictions(key),
      keyStatus(ctx, key),
      actions(ctx, key),
    ]),
  )

const lastUse = ({ lastUsedAt, lastUsedFrom }: ListedKey): Value =>
  lastUsedAt ? html`${time(lastUsedAt)}${lastUsedFrom !== null && html` from ${lastUsedFrom}`}` : 'never'

/** Restrictions that set the key apart from others. */
function formatRestrictions({ rights, scopes, networks, requestsPerMinute }: ListedKey): string {
  const parts = [
    ...(scopes.length > 0 ? scopes : rights),
    ...(networks.length > 0 ? ['some networks only'] : []),
    ...(requestsPerMinute === null ? [] : [`${requestsPerMinute} requests per minute`]),
  ]
  return parts.join(', ') || 'standard'
}

export const apiKeyPage = (form: Form, { ctx, apiKey, hasPassword, address, preset = '', done = '' }: KeyPageFacts): Page => ({
  title: apiKey.name,
  trail: [['API keys', pathOf(ctx, PATH)]],
  notice: KEY_NOTICES.get(done),
  body: html`${mistakes(form)}${panel(
    'key',
    'Details',
    factList([
      ['Key', html`<code>ak_${apiKey.mode}_…${apiKey.lastFour}</code>`],
      ['Created by', makerOf(apiKey)],
      ['Created', time(apiKey.createdAt)],
      ['Expires', apiKey.expiresAt ? time(apiKey.expiresAt) : 'never'],
      ['Last used', lastUse(apiKey)],
    ]),
  )}${settingsPanel(
    'rights',
    'Permissions',
    'Without scopes, a key can read everything but the audit log, invite candidates, and manage tags and webhooks.',
    mayGrantScopes(ctx, apiKey.scopes)
      ? html`<form method="post" action="${pathOf(ctx, `${PATH}/${apiKey.id}/rights`)}">
${checkboxes(form, {
  name: 'rights',
  label: 'Additional permissions',
  hint: 'For keys without scopes. No key can give or take away the role admin.',
  options: [
    ['manage', 'Manage: create and change assessments, questions and members; assign graders, grade, and release results'],
  ],
  values: apiKey.scopes.length > 0 ? [] : apiKey.rights,
})}
${scopeBoxes(ctx, form, PRESETS[preset] ?? apiKey.scopes)}
<p class="hint mb-4">Tick for me: <a href="?preset=read#scopes">read only</a> or <a href="?preset=invite#scopes">invite candidates</a>.</p>
${networkLines(form, address, apiKey.networks)}
${hasPassword && field(form, { name: 'current', label: 'Your password', type: 'password', autocomplete: 'current-password' })}
<button class="btn btn-primary">Save permissions</button>
</form>`
      : html`<p>This key can erase candidates. Only an owner can change what it may do, or rotate it.</p>`,
  )}${settingsPanel(
    'limit',
    'Rate limit',
    'A limit for this key keeps it from using up the others’ share.',
    html`<form method="post" action="${pathOf(ctx, `${PATH}/${apiKey.id}/limit`)}">
${field(form, {
  name: 'requestsPerMinute',
  label: 'Requests per minute',
  value: apiKey.requestsPerMinute === null ? '' : String(apiKey.requestsPerMinute),
  hint: 'All keys share the organization’s rate limit. Leave empty for no separate limit.',
  optional: true,
})}
<button class="btn">Save rate limit</button>
</form>`,
  )}`,
})

const makerOf = ({ createdBy }: ListedKey): string => (createdBy ? displayNameOf(createdBy.user) : 'the operator')

const isOver = ({ deps }: Context, { revokedAt, expiresAt }: ListedKey): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= deps.clock())

const isRotating = ({ deps }: Context, { previousExpiresAt }: ListedKey): boolean =>
  previousExpiresAt !== null && previousExpiresAt > deps.clock()

function keyStatus(ctx: Context, key: ListedKey): Html {
  if (key.revokedAt) return html`<span>revoked ${time(key.revokedAt)}</span>`
  if (isOver(ctx, key)) return html`expired`
  return isRotating(ctx, key)
    ? html`<span>The previous value works until ${time(key.previousExpiresAt!)}.</span>`
    : badge('active')
}

const actions = (ctx: Context, key: ListedKey): Html | false =>
  !isOver(ctx, key) &&
  html`<div class="flex gap-2">${
    !isRotating(ctx, key) &&
    mayGrantScopes(ctx, key.scopes) &&
    confirmButton({
      label: 'Rotate',
      question: `Rotate ${key.name}?`,
      consequence: 'The key gets a new value. The current one works for another 24 hours.',
      address: pathOf(ctx, `${PATH}/${key.id}/rotate`),
      hidden: onceField(),
      look: 'plain',
    })
  }${confirmButton({ label: 'Revoke', question: `Revoke ${key.name}?`, consequence: 'It stops working at once. This can’t be undone.', address: pathOf(ctx, `${PATH}/${key.id}/revoke`) })}</div>`

/** The key's value, shown only once. */
export const newKeyPage = (ctx: Context, { key, name }: { key: string; name: string }): Page => ({
  title: 'API key',
  body: html`<section class="panel">
<p>The value of <strong>${name}</strong>. Copy it now: it is not stored and not shown again.</p>
<div class="mt-4">${copyBox('key', key)}</div>
${linkButton(pathOf(ctx, PATH), 'Back to API keys', undefined, 'main')}
</section>`,
})
