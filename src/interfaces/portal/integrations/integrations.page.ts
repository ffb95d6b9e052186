import type { ListedKey } from '../../../domain/access/manage-keys.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { checkboxes, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { empty } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { confirmation, time } from '../kit/wording.ts'

const PATH = 'settings/integrations'

const NOTICES = new Map([['revoked', 'The key is revoked: it is refused from now on.']])

const KEY_NOTICES = new Map([
  ['rights', 'What the key may do is saved, and holds from now on.'],
  ['limit', 'How often the key may ask is saved, and holds from now on.'],
])

type OneKey = { ctx: Context; apiKey: ListedKey; done?: string | undefined }
type Facts = { ctx: Context; keys: ListedKey[]; done?: string | undefined }

export const integrationsPage = (form: Form, { ctx, keys, done = '' }: Facts): Page => ({
  title: 'Integrations',
  notice: NOTICES.get(done),
  body: html`${mistakes(form)}<section class="panel" aria-labelledby="generate-heading">
<h2 class="mb-4" id="generate-heading">Generate an API key</h2>
<p class="hint mb-4">With an API key another system reaches your organization's assessments and invites. <a href="/docs">What it can do</a></p>
<form method="post" action="${pathOf(ctx, PATH)}">${onceField()}
${field(form, { name: 'name', label: 'Name', hint: 'What it is for, so that you know it again.' })}
${choice(form, {
  name: 'mode',
  label: 'Kind',
  options: [
    ['live', 'Live'],
    ['test', 'Test: mails of its invites are not sent'],
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
    ['date', 'After the day below'],
  ],
})}
${field(form, { name: 'expiresAt', label: 'Last day, in UTC', type: 'date', optional: true })}
<button class="btn btn-primary">Generate API Key</button>
</form>
</section>
<section class="panel" aria-labelledby="keys-heading">
<h2 class="mb-4" id="keys-heading">API keys</h2>
${keys.length === 0 ? empty('key-round', 'There are none yet.') : keyTable(ctx, keys)}
</section>`,
})

const keyTable = (ctx: Context, keys: ListedKey[]): Html =>
  table(
    'keys-heading',
    ['Name', 'Key', 'Made by', 'Created', 'Expires', 'Last used', 'Allowed', 'Status'],
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
  [...rights, ...(requestsPerMinute === null ? [] : [`${requestsPerMinute} a minute`])].join(', ') || 'as usual'

/** One key: what it may do, and how often. */
export const oneKeyPage = (form: Form, { ctx, apiKey, done = '' }: OneKey): Page => ({
  title: apiKey.name,
  notice: KEY_NOTICES.get(done),
  body: html`${mistakes(form)}<p><a href="${pathOf(ctx, PATH)}">All keys</a></p>
<section class="panel" aria-labelledby="key-heading">
<h2 class="mb-4" id="key-heading">Key</h2>
<p><code>ak_${apiKey.mode}_…${apiKey.lastFour}</code>, made by ${nameOf(apiKey)}; last used: ${lastUse(apiKey)}.</p>
</section>
<section class="panel" aria-labelledby="rights-heading">
<h2 class="mb-4" id="rights-heading">What it may do</h2>
<p>Every key reads, writes tags, invites, and has webhooks.</p>
<form method="post" action="${pathOf(ctx, `${PATH}/${apiKey.id}/rights`)}">
${checkboxes(form, {
  name: 'rights',
  label: 'Besides',
  hint: 'It can never give or change the role admin.',
  options: [['manage', 'Manage: make and change assessments, questions and members; assign graders, grade, and release results']],
  values: apiKey.rights,
})}
${field(form, { name: 'current', label: 'Your password', type: 'password', autocomplete: 'current-password' })}
<button class="btn btn-primary">Save what it may do</button>
</form>
</section>
<section class="panel" aria-labelledby="limit-heading">
<h2 class="mb-4" id="limit-heading">How often</h2>
<form method="post" action="${pathOf(ctx, `${PATH}/${apiKey.id}/limit`)}">
${field(form, {
  name: 'requestsPerMinute',
  label: 'Requests a minute',
  value: apiKey.requestsPerMinute === null ? '' : String(apiKey.requestsPerMinute),
  hint: 'Of those that the organization has for all its keys. Empty: all of these. A limit keeps this key from starving others.',
  optional: true,
})}
<button class="btn btn-primary">Save how often</button>
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
      ? html`<p>The value before is good until ${time(previousExpiresAt)}.</p>`
      : confirmation(
          'Rotate',
          `Give ${name} a new value? The present one is good for 24 hours more.`,
          pathOf(ctx, `${PATH}/${id}/rotate`),
          onceField(),
        )
  }
${confirmation('Revoke', `Revoke ${name}? Whoever uses it is refused at once. That can not be undone.`, pathOf(ctx, `${PATH}/${id}/revoke`))}`
}

/** A key's value, which is shown this once. */
export const keyPage = (ctx: Context, { key, name }: { key: string; name: string }): Page => ({
  title: 'API key',
  body: html`<section class="panel">
<p>The value of <strong>${name}</strong>. Keep it now: it is not stored, and not shown again.</p>
<code class="secret mb-3 block rounded-field border border-base-300 bg-base-200 px-4 py-3 select-all" id="key">${key}</code>
<p><button class="btn btn-sm" hidden data-copy="key" type="button">Copy</button></p>
<p><a href="${pathOf(ctx, PATH)}">Done, back to the list</a></p>
</section>`,
})
