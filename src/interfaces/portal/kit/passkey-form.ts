import type { PasskeyOptions } from '../../../domain/sign-in/passkeys.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'

type PasskeyForm = {
  /** Create a passkey, or sign in with one. */
  action: 'create' | 'get'
  address: string
  options: PasskeyOptions
  /** Label of the button. */
  label: string
  /** Further fields. */
  fields?: Html | undefined
  /** True if the address field offers passkeys, too. */
  isInField?: boolean
}

/** A form that a passkey fills in, see browser/passkeys.ts. Hidden without scripts or without passkey support. */
export const passkeyForm = ({ action, address, options, label, fields, isInField = false }: PasskeyForm): Html =>
  html`<form hidden method="post" action="${address}" data-passkey="${action}" data-options="${JSON.stringify(options)}" data-failed="${FAILED[action]}" data-there="This device already has a passkey of yours." ${isInField && html`data-conditional`}>
<input type="hidden" name="answer">
${fields}<button class="btn w-full">${icon('key-round')}${label}</button>
<p class="mistake" data-mistake role="alert" hidden></p>
</form>
`

const FAILED = {
  create: 'No passkey was created. You can try again, or use another device.',
  get: 'No passkey was used. You can try again, or sign in another way.',
}
