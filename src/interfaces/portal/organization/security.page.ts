import type { Context } from '../../../domain/context.ts'
import { AUDIT_RETENTION_DAYS, IDLE_MINUTES, KEY_DAYS, SESSION_HOURS, TRUSTED_DEVICE_DAYS } from '../../../domain/limits.ts'
import type { MemberFactors } from '../../../domain/members/members-factors.ts'
import type { OrganizationSecurity } from '../../../domain/organization/organization-security.ts'
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
  /** IP address of the reader. */
  address: string
  done: string
}

export function securityPage(form: Form, { ctx, security, members, counts, address, done }: Facts): Page {
  const target = { address: pathOf(ctx, 'settings/security'), row: security }
  const section = (id: string, heading: string, about: string, fields: Html) =>
    settingsSection(form, target, id, { heading, about, fields, isFirst: id === 'second-step' })
  return {
    title: 'Security',
    trail: [['Settings', pathOf(ctx, 'settings')]],
    subtitle: 'Rules for members and API keys. Changes take effect at once.',
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
        hint: 'Until then members are reminded. From that day (UTC) they set up a second step before anything else. Empty: not required.',
        optional: true,
      })}
${field(form, {
  name: 'trustedDeviceDays',
  label: 'Days that a browser is remembered',
  type: 'number',
  value: String(security.trustedDeviceDays),
  hint: `For this long, members are not asked for the second step in it again. ${TRUSTED_DEVICE_DAYS.minimum} (never) to ${TRUSTED_DEVICE_DAYS.maximum}.`,
})}`,
    )}${section(
      'sessions',
      'Sessions',
      'When members have to sign in again. For strict rules (NIST AAL2), choose 60 minutes and 24 hours.',
      html`${field(form, {
        name: 'idleMinutes',
        label: 'Minutes without activity until sign-out',
        type: 'number',
        value: String(security.idleMinutes),
        hint: `${IDLE_MINUTES.minimum} to ${IDLE_MINUTES.maximum}.`,
      })}
${field(form, {
  name: 'sessionHours',
  label: 'Hours until sign-out in any case',
  type: 'number',
  value: String(security.sessionHours),
  hint: `${SESSION_HOURS.minimum} to ${SESSION_HOURS.maximum}.`,
})}`,
    )}${section(
      'networks',
      'Networks',
      'Where members can open this organization from, such as your office or VPN.',
      area(form, {
        name: 'networks',
        label: 'Networks of members',
        hint: `One address or network per line, such as 203.0.113.0/24. Empty: anywhere. Your address is ${address}.`,
        value: security.networks.join('\n'),
      }),
    )}${section(
      'keys',
      'API keys',
      'Limits for all keys, on top of each key’s own.',
      html`${area(form, {
        name: 'apiKeyNetworks',
        label: 'Networks of API keys',
        hint: 'One address or network per line. Empty: anywhere. Requests from elsewhere are refused (403).',
        value: security.apiKeyNetworks.join('\n'),
      })}
${shutsKeysOut(form) && checkbox(form, { name: 'shutsOut', label: 'Block these keys: their requests get 403 from now on' })}
${field(form, {
  name: 'apiKeyMaxDays',
  label: 'Days a new key lasts at most',
  type: 'number',
  value: String(security.apiKeyMaxDays ?? ''),
  hint: `${KEY_DAYS.minimum} to ${KEY_DAYS.maximum.toLocaleString('en')}. Empty: no limit. Existing keys don’t change.`,
  optional: true,
})}`,
    )}${section(
      'audit-log',
      'Audit log',
      'Older entries are deleted for good.',
      field(form, {
        name: 'auditRetentionDays',
        label: 'Days entries are kept',
        type: 'number',
        value: String(security.auditRetentionDays),
        hint: `A year to seven: ${AUDIT_RETENTION_DAYS.minimum} to ${AUDIT_RETENTION_DAYS.maximum}.`,
      }),
    )}${memberFactors(ctx, members, counts)}`,
  }
}

/** True if API keys in use would be shut out, or if that was confirmed. */
const shutsKeysOut = ({ issues, values }: Form): boolean =>
  values.has('shutsOut') || issues.some((issue) => issue.rule === 'account' && issue.problem === 'keysShutOut')

/** Members and their second factors, those without first. */
const memberFactors = (ctx: Context, members: Facts['members'], counts: Facts['counts']): Html =>
  panel(
    'members',
    `${counts.withFactor} of ${counts.members} ${counts.members === 1 ? 'member' : 'members'} ${counts.withFactor === 1 ? 'has' : 'have'} a second step`,
    html`${table(
      'members-heading',
      ['Member', 'Second step'],
      members.map(({ id, email, firstName, lastName, kinds }) => [
        person({ name: `${firstName} ${lastName}`.trim(), email, address: pathOf(ctx, `members/${id}`) }),
        kinds.length > 0 ? kinds.map((kind) => FACTOR_NAMES[kind]).join(', ') : badge('none'),
      ]),
    )}${members.length < counts.members && html`<p class="hint mt-3">Only ${members.length} are shown, those without a second step first.</p>`}`,
  )
