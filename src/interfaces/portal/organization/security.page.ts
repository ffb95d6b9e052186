import type { Context } from '../../../domain/context.ts'
import { AUDIT_KEPT_DAYS, DEVICE_DAYS, IDLE_MINUTES, KEY_DAYS, SESSION_HOURS } from '../../../domain/limits.ts'
import type { MemberFactors } from '../../../domain/members/members-factors.ts'
import type { OrganizationSecurity } from '../../../domain/members/organization-security.ts'
import { type Html, html } from '../../../html/html.ts'
import { area, checkbox, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { person } from '../kit/parts.ts'
import { settingsSection } from '../kit/settings-section.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { FACTOR_NAMES } from './members.page.ts'

type Facts = {
  ctx: Context
  security: OrganizationSecurity & { updatedAt: Date }
  members: readonly MemberFactors[]
  counts: { members: number; withFactor: number }
  /** Of whoever reads the page. */
  address: string
  done: string
}

export function securityPage(form: Form, { ctx, security, members, counts, address, done }: Facts): Page {
  const to = { address: pathOf(ctx, 'settings/security'), row: security }
  const section = (id: string, heading: string, about: string, fields: Html) =>
    settingsSection(form, to, id, { heading, about, fields, isFirst: id === 'second-step' })
  return {
    title: 'Security',
    subtitle: 'What it takes to open this organization. Changes take effect at once.',
    notice: done === 'saved' ? 'The settings are saved.' : undefined,
    body: html`${mistakes(form)}${section(
      'second-step',
      'Two-step sign-in',
      'A code from an app or a passkey, besides the password.',
      html`${field(form, {
        name: 'secondFactorFrom',
        label: 'Required from',
        type: 'date',
        value: security.secondFactorFrom?.toISOString().slice(0, 10) ?? '',
        hint: 'Until then members are reminded. From that day (UTC), whoever has no second step sets one up before they see anything. Leave empty to require none.',
        optional: true,
      })}
${field(form, {
  name: 'deviceDays',
  label: 'Days for which a browser may be remembered',
  type: 'number',
  value: String(security.deviceDays),
  hint: `In it members are not asked again: ${DEVICE_DAYS.minimum} (never) to ${DEVICE_DAYS.maximum}.`,
})}`,
    )}${section(
      'sessions',
      'Sessions',
      'For strict rules (NIST AAL2), choose 60 minutes and 24 hours.',
      html`${field(form, {
        name: 'idleMinutes',
        label: 'Minutes without activity',
        type: 'number',
        value: String(security.idleMinutes),
        hint: `Then members sign in again: ${IDLE_MINUTES.minimum} to ${IDLE_MINUTES.maximum}.`,
      })}
${field(form, {
  name: 'sessionHours',
  label: 'Hours in all',
  type: 'number',
  value: String(security.sessionHours),
  hint: `However active they are: ${SESSION_HOURS.minimum} to ${SESSION_HOURS.maximum}.`,
})}`,
    )}${section(
      'networks',
      'Networks',
      'From where this organization can be opened, such as your office and your VPN.',
      area(form, {
        name: 'networks',
        label: 'Networks of members',
        hint: `One address or network (203.0.113.0/24) a line; empty: from anywhere. You come from ${address}.`,
        value: security.networks.join('\n'),
      }),
    )}${section(
      'keys',
      'API keys',
      'What holds for all of them, besides what each key is restricted to.',
      html`${area(form, {
        name: 'keyNetworks',
        label: 'Networks of API keys',
        hint: 'One address or network a line; empty: from anywhere. Requests from elsewhere get 403.',
        value: security.keyNetworks.join('\n'),
      })}
${shutsKeysOut(form) && checkbox(form, { name: 'shutsOut', label: 'Shut them out: requests of those keys get 403 from now on' })}
${field(form, {
  name: 'keyMaxDays',
  label: 'Days for which a new key is good at most',
  type: 'number',
  value: String(security.keyMaxDays ?? ''),
  hint: `${KEY_DAYS.minimum} to ${KEY_DAYS.maximum.toLocaleString('en')}; empty: as long as whoever makes it chooses. Keys that are there already stay.`,
  optional: true,
})}`,
    )}${section(
      'audit-log',
      'Audit log',
      'What is older is deleted, for good.',
      field(form, {
        name: 'auditKeptDays',
        label: 'Days for which entries are kept',
        type: 'number',
        value: String(security.auditKeptDays),
        hint: `A year to seven: ${AUDIT_KEPT_DAYS.minimum} to ${AUDIT_KEPT_DAYS.maximum}.`,
      }),
    )}${memberFactors(ctx, members, counts)}`,
  }
}

/** Whether keys that are in use would be shut out, or it was said that they are to be. */
const shutsKeysOut = ({ issues, values }: Form): boolean =>
  values.has('shutsOut') || issues.some((issue) => issue.rule === 'account' && issue.problem === 'keysShutOut')

/** Who has a second step, those without before the others. */
const memberFactors = (ctx: Context, members: Facts['members'], counts: Facts['counts']): Html =>
  panel(
    'members',
    `${counts.withFactor} of ${counts.members} ${counts.members === 1 ? 'member' : 'members'} with a second step`,
    html`${table(
      'members-heading',
      ['Member', 'Second step'],
      members.map(({ id, email, firstName, lastName, kinds }) => [
        person({ name: `${firstName} ${lastName}`.trim(), email, address: pathOf(ctx, `members/${id}`) }),
        kinds.length > 0 ? kinds.map((kind) => FACTOR_NAMES[kind]).join(', ') : badge('none'),
      ]),
    )}${members.length < counts.members && html`<p class="hint mt-3">The first ${members.length}, those without a second step before the others.</p>`}`,
  )
