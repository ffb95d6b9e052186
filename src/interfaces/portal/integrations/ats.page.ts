import type { AtsKeySummary, ConnectionDetail } from '../../../domain/ats/connections.ts'
import type { Ats, Context, KeyMode } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { confirmation } from '../kit/confirm.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { table } from '../kit/table.ts'
import { time } from '../kit/wording.ts'

const PATH = 'settings/ats'

/** What each system is called, and what is to be done with its keys. */
export const SYSTEMS: Record<Ats, { name: string; howTo: string; theirs?: string }> = {
  greenhouse: {
    name: 'Greenhouse',
    howTo:
      'Give the key to your Greenhouse account manager, who enters it. Then a stage with an assessment can be added to the plan of a job.',
  },
  ashby: {
    name: 'Ashby',
    howTo:
      'In Ashby, open the setup of the integration, paste this key and press refresh. Then create a key there with the permission candidatesWrite, and enter it here.',
    theirs: 'Needed before assessments can be ordered: results are reported back with it.',
  },
  recruitee: { name: 'Recruitee', howTo: 'In Recruitee, open the setup of the integration and paste this key.' },
}

const NOTICES = new Map([
  ['revoked', 'The key is revoked and no longer works.'],
  ['entered', 'The key is saved. Send a test to see whether it works.'],
])

type Facts = { ctx: Context; systems: { ats: Ats; connections: ConnectionDetail[] }[]; done: string }

export const atsPage = (form: Form, { ctx, systems, done }: Facts): Page => ({
  title: 'Recruiting systems',
  notice: NOTICES.get(done),
  body: html`${mistakes(form)}${systems.map(({ ats, connections }) =>
    panel(
      ats,
      SYSTEMS[ats].name,
      html`<p>${SYSTEMS[ats].howTo}</p>
${connections.map((connection) => connectionPart(ctx, connection))}
<form method="post" action="${pathOf(ctx, `${PATH}/${ats}/keys`)}">${onceField()}
<p>Invites created with a test key send no emails.</p>
<p><button class="btn btn-primary" name="mode" value="live">Generate a live key</button> <button class="btn" name="mode" value="test">Generate a test key</button></p>
</form>
${SYSTEMS[ats].theirs && theirKeyForm(form, ctx, ats)}`,
    ),
  )}`,
})

const theirKeyForm = (form: Form, ctx: Context, ats: Ats): Html =>
  html`<form method="post" action="${pathOf(ctx, `${PATH}/${ats}/their-key`)}">
${field(form, { name: 'theirKey', label: `${SYSTEMS[ats].name}’s key`, type: 'password', hint: SYSTEMS[ats].theirs ?? '' })}
<p><button class="btn btn-primary" name="mode" value="live">Save for live invites</button> <button class="btn" name="mode" value="test">Save for test invites</button></p>
</form>`

/** A connection on the list of all: its keys, and the way to what it does. */
const connectionPart = (
  ctx: Context,
  { id, ats, mode, keys, theirLastFour }: ConnectionDetail,
): Html => html`<h3 id="${`${ats}-${mode}`}">${mode === 'test' ? 'For test invites' : 'For live invites'}</h3>
${keys.length > 0 && keyTable(ctx, `${ats}-${mode}`, mode, keys)}
${SYSTEMS[ats].theirs && html`<p>${theirLastFour ? html`${SYSTEMS[ats].name}’s key: <code>…${theirLastFour}</code>` : `${SYSTEMS[ats].name}’s key is missing.`}</p>`}
<p><a href="${pathOf({ ...ctx, mode }, `${PATH}/connections/${id}`)}">See orders and calls, or send a test</a></p>`

const keyTable = (ctx: Context, heading: string, mode: KeyMode, keys: AtsKeySummary[]): Html =>
  table(
    heading,
    ['Key', 'Created by', 'Created', 'Last used', 'Status'],
    keys.map((key) => [
      html`<code>ak_${mode}_…${key.lastFour}</code>`,
      nameOf(key),
      time(key.createdAt),
      key.lastUsedAt ? time(key.lastUsedAt) : 'never',
      key.revokedAt
        ? html`revoked ${time(key.revokedAt)}`
        : confirmation({
            label: 'Revoke',
            question: 'Revoke this key?',
            consequence: 'It stops working at once. Unless there is another key, nothing more is reported. This can’t be undone.',
            address: pathOf(ctx, `${PATH}/keys/${key.id}/revoke`),
          }),
    ]),
  )

const nameOf = ({ createdBy }: AtsKeySummary): string => {
  if (!createdBy) return 'the operator'
  const { firstName, lastName, email } = createdBy.user
  return `${firstName} ${lastName}`.trim() || email
}

/** A key's value, which is shown this once. */
export const atsKeyPage = (ctx: Context, ats: Ats, key: string): Page => ({
  title: `Key for ${SYSTEMS[ats].name}`,
  body: html`<section class="panel">
<p>${SYSTEMS[ats].howTo} Copy it now: it is not shown again.</p>
<code class="secret mb-3 block rounded-field border border-base-300 bg-base-200 px-4 py-3 select-all" id="key">${key}</code>
<p><button class="btn btn-sm" hidden data-copy="key" type="button">Copy</button></p>
<p><a href="${pathOf(ctx, PATH)}">Back to recruiting systems</a></p>
</section>`,
})
