import type { ListedKey } from '../../../domain/access/manage-keys.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { confirmation } from '../kit/confirm.ts'
import { checkboxes, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { empty, facts } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { time } from '../kit/wording.ts'

const PATH = 'settings/integrations'

const NOTICES = new Map([['revoked', 'The key is revoked and no longer works.']])

const KEY_NOTICES = new Map([
  ['rights', 'The permissions are saved and apply from now on.'],
  ['limit', 'The rate limit is saved and applies from now on.'],
])

type OneKey = { ctx: Context; apiKey: ListedKey; done?: string | undefined }
type Facts = { ctx: Context; keys: ListedKey[]; done?: string | undefined }

export const integrationsPage = (form: Form, { ctx, keys, done = '' }: Facts): Page => ({
  title: 'Integrations',
  notice: NOTICES.get(done),
  body: html`${mistakes(form)}<section class="panel" aria-labelledby="generate-heading">
<h2 class="mb-4" id="generate-heading">Generate an API key</h2>
<p class="hint mb-4">With an API key, another system can work with your organization’s assessments and invites. <a href="/docs">Read the API documentation</a></p>
<form method="post" action="${pathOf(ctx, PATH)}">${onceField()}
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
  options: [
    ['never', 'Never'],
    ['30', 'In 30 days'],
    ['90', 'In 90 days'],
    ['365', 'In a year'],
    ['date', 'On a date'],
  ],
})}
${field(form, { name: 'expiresAt', label: 'Last day (UTC), if it expires on a date', type: 'date', optional: true })}
<button class="btn btn-primary">Generate API Key</button>
</form>
</section>
<section class="panel" aria-labelledby="keys-heading">
<h2 class="mb-4" id="keys-heading">API keys</h2>
${keys.length === 0 ? empty('key-round', 'There are no API keys yet. Generate one above for the system that works with your invites.') : keyTable(ctx, keys)}
</section>`,
})

const keyTable = (ctx: Context, keys: ListedKey[]): Html =>
  table(
    'keys-heading',
    ['Name', 'Key', 'Created by', 'Created', 'Expires', 'Last used', 'Permissions', 'Status'],
    keys.map((key) => [
      html`<a href="${pathOf(ctx, `${PATH}/${key.id}`)}">${key.name}</a>`,
      html`<code>ak_${key.mode}_…${key.lastFour}</code>`,
      nameOf(key),
      time(key.createdAt),
      key.expiresAt ? time(key.expiresAt) : 'never',
      lastUse(key),
      allowance(key),
      state(ctx, key),
    ]),
  )

/** Its time, and the address. */
const lastUse = ({ lastUsedAt, lastUsedFrom }: ListedKey): Value =>
  lastUsedAt ? html`${time(lastUsedAt)}${lastUsedFrom !== null && html` from ${lastUsedFrom}`}` : 'never'

/** What sets it apart from other keys. */
const allowance = ({ rights, requestsPerMinute }: ListedKey): string =>
  [...rights, ...(requestsPerMinute === null ? [] : [`${requestsPerMinute} requests per minute`])].join(', ') || 'standard'

/** One key: what it may do, and how often. */
export const oneKeyPage = (form: Form, { ctx, apiKey, done = '' }: OneKey): Page => ({
  title: apiKey.name,
  trail: [['API keys', pathOf(ctx, PATH)]],
  notice: KEY_NOTICES.get(done),
  body: html`${mistakes(form)}<section class="panel" aria-labelledby="key-heading">
<h2 class="mb-4" id="key-heading">Details</h2>
${facts([
  ['Key', html`<code>ak_${apiKey.mode}_…${apiKey.lastFour}</code>`],
  ['Created by', nameOf(apiKey)],
  ['Created', time(apiKey.createdAt)],
  ['Expires', apiKey.expiresAt ? time(apiKey.expiresAt) : 'never'],
  ['Last used', lastUse(apiKey)],
])}
</section>
<section class="panel" aria-labelledby="rights-heading">
<h2 class="mb-4" id="rights-heading">Permissions</h2>
<p>Every key can read, invite candidates, and manage tags and webhooks.</p>
<form method="post" action="${pathOf(ctx, `${PATH}/${apiKey.id}/rights`)}">
${checkboxes(form, {
  name: 'rights',
  label: 'Additional permissions',
  hint: 'No key can give or take away the role admin.',
  options: [
    ['manage', 'Manage: create and change assessments, questions and members; assign graders, grade, and release results'],
  ],
  values: apiKey.rights,
})}
${field(form, { name: 'current', label: 'Your password', type: 'password', autocomplete: 'current-password' })}
<button class="btn btn-primary">Save permissions</button>
</form>
</section>
<section class="panel" aria-labelledby="limit-heading">
<h2 class="mb-4" id="limit-heading">Rate limit</h2>
<form method="post" action="${pathOf(ctx, `${PATH}/${apiKey.id}/limit`)}">
${field(form, {
  name: 'requestsPerMinute',
  label: 'Requests per minute',
  value: apiKey.requestsPerMinute === null ? '' : String(apiKey.requestsPerMinute),
  hint: 'All keys share the organization’s rate limit. A limit for this key keeps it from using up the others’ share. Leave empty for no limit of its own.',
  optional: true,
})}
<button class="btn btn-primary">Save rate limit</button>
</form>
</section>`,
})

const nameOf = ({ createdBy }: ListedKey): string => {
  if (!createdBy) return 'the operator'
  const { firstName, lastName, email } = createdBy.user
  return `${firstName} ${lastName}`.trim() || email
}

/** How it stands, and what can be done with it. */
function state(ctx: Context, { id, name, revokedAt, expiresAt, previousExpiresAt }: ListedKey): Html {
  const now = ctx.deps.clock()
  if (revokedAt) return html`revoked ${time(revokedAt)}`
  if (expiresAt && expiresAt <= now) return html`expired`
  const isRotating = previousExpiresAt !== null && previousExpiresAt > now
  return html`${
    isRotating
      ? html`<p>The previous value works until ${time(previousExpiresAt)}.</p>`
      : confirmation({
          label: 'Rotate',
          question: `Rotate ${name}?`,
          consequence: 'The key gets a new value. The current one works for another 24 hours.',
          address: pathOf(ctx, `${PATH}/${id}/rotate`),
          hidden: onceField(),
          look: 'plain',
        })
  }
${confirmation({ label: 'Revoke', question: `Revoke ${name}?`, consequence: 'It stops working at once. This can’t be undone.', address: pathOf(ctx, `${PATH}/${id}/revoke`) })}`
}

/** A key's value, which is shown this once. */
export const keyPage = (ctx: Context, { key, name }: { key: string; name: string }): Page => ({
  title: 'API key',
  body: html`<section class="panel">
<p>The value of <strong>${name}</strong>. Copy it now: it is not stored and not shown again.</p>
<code class="secret mb-3 block rounded-field border border-base-300 bg-base-200 px-4 py-3 select-all" id="key">${key}</code>
<p><button class="btn btn-sm" hidden data-copy="key" type="button">Copy</button></p>
<p><a href="${pathOf(ctx, PATH)}">Back to API keys</a></p>
</section>`,
})
