// Forms that a passkey fills in: `<form hidden data-passkey="create" data-options="{…}">` with a field named `answer`. They stay hidden
// without scripts or without passkey support. Options and answer are JSON with bytes as base64url, converted here because some supported
// browsers lack the built-in conversion.

type Json = { [name: string]: Json | string | number | boolean | undefined } & { id?: string; type?: string }

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))

const toText = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

function readOptions(text: string) {
  const options = JSON.parse(text)
  const listed = (list: Json[] = []) => list.map((item) => ({ ...item, id: toBytes(item.id!) }))
  return {
    ...options,
    challenge: toBytes(options.challenge),
    ...(options.user && { user: { ...options.user, id: toBytes(options.user.id) } }),
    ...(options.excludeCredentials && { excludeCredentials: listed(options.excludeCredentials) }),
    ...(options.allowCredentials && { allowCredentials: listed(options.allowCredentials) }),
  }
}

function printAnswer({ id, rawId, type, response }: PublicKeyCredential): string {
  const authenticator = response as AuthenticatorAttestationResponse & AuthenticatorAssertionResponse
  const bytes = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'] as const
  const parts = bytes.flatMap((name) => (authenticator[name] ? [[name, toText(authenticator[name])]] : []))
  const transports = authenticator.getTransports?.()
  const fields = { ...Object.fromEntries(parts), ...(transports && { transports }) }
  return JSON.stringify({ id, rawId: toText(rawId), type, response: fields, clientExtensionResults: {} })
}

function showForm(form: HTMLFormElement): void {
  const isNew = form.dataset.passkey === 'create'
  const publicKey = readOptions(form.dataset.options!)
  const mistake = form.querySelector<HTMLElement>('[data-mistake]')!
  let asking = new AbortController()
  const ask = async (mediation?: 'conditional') => {
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    const credential = isNew
      ? await navigator.credentials.create({ publicKey, signal })
      : await navigator.credentials.get({ publicKey, signal, ...(mediation && { mediation }) })
    form.querySelector<HTMLInputElement>('input[name=answer]')!.value = printAnswer(credential as PublicKeyCredential)
    form.submit()
  }
  const say = (error: unknown) => {
    const isThere = isNew && error instanceof DOMException && error.name === 'InvalidStateError'
    mistake.textContent = isThere ? form.dataset.there! : form.dataset.failed!
    mistake.hidden = false
  }
  const offerInField = async () => {
    if (await PublicKeyCredential.isConditionalMediationAvailable?.()) await ask('conditional')
  }
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    event.stopImmediatePropagation() // submitted by `ask` once there is an answer; after canceling, the button works at once
    mistake.hidden = true
    ask().catch(say)
  })
  // Errors of the request in the address field are not shown: the user has not asked for it.
  if (form.dataset.conditional !== undefined) offerInField().catch(() => {})
}

if ('PublicKeyCredential' in globalThis)
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) showForm(form)
