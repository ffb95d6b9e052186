import type { InviteDetail } from '../../../domain/invites/invites.ts'
import { mayMove } from '../../../domain/invites/moves.ts'
import { type Html, html } from '../../../html/html.ts'
import { area, type Form, field } from '../kit/forms.ts'
import { panel } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'

/** What can be put right about an invite, as long as nobody has gone on with it; empty afterwards. @param path of the invite. */
export function corrections(form: Form, invite: InviteDetail, path: string): Html[] {
  if (!mayMove('extend', invite.status)) return []
  return [
    panel(
      'corrections',
      'Corrections',
      html`${invite.status === 'pending' && texts(form, invite, path)}${invite.mode === 'live' && address(form, path)}`,
    ),
  ]
}

const texts = (form: Form, { recipientName, customMessage, ...limits }: InviteDetail, path: string): Html =>
  html`<form method="post" action="${`${path}/correct`}">${onceField()}
${field(form, { name: 'recipientName', label: 'Name', value: recipientName ?? '', optional: true })}
${area(form, { name: 'customMessage', label: 'Message', value: customMessage })}
${field(form, { name: 'questionReplayLimit', label: 'Replays of each question', type: 'number', value: String(limits.questionReplayLimit) })}
${field(form, { name: 'answerRecordLimit', label: 'Recordings of each answer', type: 'number', value: String(limits.answerRecordLimit) })}
<button class="btn">Save corrections</button>
</form>`

const address = (form: Form, path: string): Html => html`<details>
<summary class="py-2 text-sm font-medium">Wrong email address?</summary>
<form method="post" action="${`${path}/replace`}">${onceField()}
<p>Enter the right one: this invite is revoked, and the right address gets an invite with the same settings, and an email.</p>
${field(form, { name: 'recipientEmail', label: 'Right email address', type: 'email' })}
<button class="btn btn-primary">Invite this address instead</button>
</form>
</details>`
