import type { PasskeyOptions } from '../../../domain/sign-in/passkeys.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'

type PasskeyForm = {
  /** Whether a passkey is made, or asked for. */
  does: 'create' | 'get'
  address: string
  options: PasskeyOptions
  /** The button's. */
  label: string
  /** What it has besides. */
  fields?: Html | undefined
  /** Whether the field of the address offers passkeys, too. */
  isInField?: boolean
}

/** A form that a passkey fills in, see browser/passkeys.ts: it is shown where scripts run, and the browser knows passkeys. */
export const passkeyForm = ({ does, address, options, label, fields, isInField = false }: PasskeyForm): Html =>
  html`<form hidden method="post" action="${address}" data-passkey="${does}" data-options="${JSON.stringify(options)}" data-failed="${FAILED[does]}" data-there="This device already has a passkey of yours." ${isInField && html`data-conditional`}>
<input type="hidden" name="answer">
${fields}<button class="btn w-full">${icon('key-round')}${label}</button>
<p class="mistake" data-mistake role="alert" hidden></p>
</form>
`

const FAILED = {
  create: 'No passkey was created. You can try again, or use another device.',
  get: 'No passkey was used. You can try again, or sign in another way.',
}
