import { DomainError } from '../../../domain/errors.ts'
import type { ProviderInput } from '../../../domain/single-sign-on/provider-input.ts'
import { DEFAULT_ROLES, type Provider } from '../../../domain/single-sign-on/providers.ts'
import { type Html, html } from '../../../html/html.ts'
import { area, checkbox, checkboxes, choice, type Form, field, foldedFields, readLines } from '../kit/forms.ts'

/** @param provider null for a new one. */
export const providerFields = (form: Form, provider: Provider | null): Html => html`${field(form, {
  name: 'name',
  label: 'Name',
  value: provider?.name ?? '',
  hint: 'The name that your members know, usually your organization’s.',
})}
${field(form, {
  name: 'issuer',
  label: 'Issuer',
  value: provider?.issuer ?? '',
  hint: 'An https address, such as https://login.example.com/. Your provider lists it with its OpenID Connect settings.',
})}
${field(form, { name: 'clientId', label: 'Client ID', value: provider?.clientId ?? '' })}
${field(form, {
  name: 'clientSecret',
  label: 'Client secret',
  type: 'password',
  autocomplete: 'new-password',
  optional: provider !== null,
  ...(provider && { hint: 'Leave empty to keep the one that is set.' }),
})}
${field(form, {
  name: 'secretExpiresAt',
  label: 'The secret expires on',
  type: 'date',
  value: provider?.secretExpiresAt?.toISOString().slice(0, 10) ?? '',
  hint: 'Your provider shows the date where it shows the secret. Settings warn from 30 days before it: nobody can sign in afterwards.',
  optional: true,
})}
${checkbox(form, {
  name: 'provisionsMembers',
  label: 'Make everybody a member who signs in with an address of a verified domain',
  checked: provider?.provisionsMembers ?? false,
})}
${checkboxes(form, {
  name: 'defaultRoles',
  label: 'Roles of new members',
  options: DEFAULT_ROLES.map((role) => [role, role === 'client' ? 'Client' : 'Grader'] as const),
  values: provider?.defaultRoles ?? ['grader'],
  hint: 'Admins are made under Members only.',
})}
${choice(form, {
  name: 'secondFactor',
  label: 'Second step',
  value: provider?.secondFactor ?? 'ours',
  options: [
    ['ours', 'Ask for one here, where this organization requires it'],
    ['trusted', 'The provider asks for one: ask for none here'],
    ['acr', 'Ask for none here if the provider says that it did'],
  ],
})}
${foldedFields(
  form,
  'More settings',
  html`${checkbox(form, {
    name: 'logsOutAtProvider',
    label: 'Show members who sign out here where to sign out of the provider as well',
    checked: provider?.logsOutAtProvider ?? false,
  })}
${area(form, {
  name: 'acrValues',
  label: 'Levels that count as two steps (acr)',
  value: provider?.acrValues.join('\n') ?? '',
  hint: 'One per line, for the last choice above.',
})}
${area(form, {
  name: 'requiredClaims',
  label: 'Required claims',
  value: Object.entries((provider?.requiredClaims ?? {}) as Record<string, string>)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n'),
  hint: 'One per line, such as hd=example.com. A sign-in without one of them is refused.',
})}
${choice(form, {
  name: 'clientAuth',
  label: 'How the secret is sent',
  value: provider?.clientAuth ?? 'client_secret_basic',
  options: [
    ['client_secret_basic', 'In a header (client_secret_basic)'],
    ['client_secret_post', 'In the body (client_secret_post)'],
  ],
})}`,
)}`

/** @throws DomainError invalid: `notClaims`, with the line. */
export function readProvider(values: URLSearchParams): ProviderInput {
  const text = (name: string) => values.get(name)?.replaceAll('\0', '') ?? ''
  const endsOn = text('secretExpiresAt')
  return {
    name: text('name'),
    issuer: text('issuer'),
    clientId: text('clientId'),
    clientAuth: text('clientAuth') as ProviderInput['clientAuth'],
    clientSecret: text('clientSecret'),
    secretExpiresAt: endsOn === '' ? null : new Date(`${endsOn}T00:00:00Z`),
    requiredClaims: readClaims(readLines(values, 'requiredClaims')),
    provisionsMembers: values.has('provisionsMembers'),
    defaultRoles: readLines(values, 'defaultRoles'),
    secondFactor: text('secondFactor') as ProviderInput['secondFactor'],
    acrValues: readLines(values, 'acrValues'),
    logsOutAtProvider: values.has('logsOutAtProvider'),
  }
}

const readClaims = (lines: string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line, i) => {
      const [, name, value] = /^([\w:./-]{1,100})\s*=\s*(\S.*)$/.exec(line) ?? []
      const issue = { field: 'requiredClaims', rule: 'account', problem: 'notClaims', limit: i + 1 } as const
      if (name === undefined || value === undefined) throw new DomainError('invalid', { issues: [issue] })
      return [name, value.trim()]
    }),
  )
