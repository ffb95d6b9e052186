import { may, type Permission } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { IconName } from '../../../http/pages/icon.ts'

/** @property path below the organization's address. @property isFor permission that the page requires. */
export type SettingsPage = { path: string; icon: IconName; label: string; about: string; isFor: Permission }
export type SettingsGroup = { id: string; label: string; pages: SettingsPage[] }

/** Settings pages, grouped by task. */
const GROUPS: SettingsGroup[] = [
  {
    id: 'organization',
    label: 'Organization',
    pages: [
      {
        path: 'settings/organization',
        icon: 'building-2',
        label: 'Name and return link',
        about: 'Your name, and where candidates go at the end',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/decisions',
        icon: 'list-checks',
        label: 'Decisions',
        about: 'Your words for what you decide about candidates',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/sharing',
        icon: 'link',
        label: 'Sharing',
        about: 'Links to results, for people without an account',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/selection-rates',
        icon: 'scale',
        label: 'Selection rates',
        about: 'Whether statistics compare groups of candidates',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/integrations',
        icon: 'webhook',
        label: 'Integrations',
        about: 'API keys, webhooks and recruiting systems',
        isFor: 'manage_keys',
      },
    ],
  },
  {
    id: 'access',
    label: 'Access',
    pages: [
      {
        path: 'settings/security',
        icon: 'shield-check',
        label: 'Security',
        about: 'Two-step sign-in, sessions, networks, and limits for API keys',
        isFor: 'manage_security',
      },
      {
        path: 'settings/sign-in',
        icon: 'key-round',
        label: 'Single sign-on',
        about: 'Members sign in with Entra ID, Okta, Google Workspace or another provider',
        isFor: 'manage_security',
      },
      {
        path: 'settings/audit-log',
        icon: 'scroll-text',
        label: 'Audit log',
        about: 'Who did what, and when',
        isFor: 'read_audit_log',
      },
    ],
  },
  {
    id: 'emails',
    label: 'Emails to candidates',
    pages: [
      {
        path: 'settings/organization#invitations-heading',
        icon: 'mail',
        label: 'Sender and replies',
        about: 'Who invitations are from, who gets the replies, and a text below each',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/words',
        icon: 'pencil',
        label: 'Email templates',
        about: 'Your texts for invitations, reminders and notices',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/reminders',
        icon: 'timer',
        label: 'Reminders and notices',
        about: 'Automatic emails, and the hours when they are sent',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/suppressions',
        icon: 'ban',
        label: 'Blocked addresses',
        about: 'Addresses that get no emails because they bounced or reported spam',
        isFor: 'operate_invites',
      },
    ],
  },
  {
    id: 'pages',
    label: 'Pages for candidates',
    pages: [
      {
        path: 'settings/brand',
        icon: 'image',
        label: 'Colors and logo',
        about: 'For pages and emails',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/links',
        icon: 'link',
        label: 'Links and consent',
        about: 'Imprint, privacy, contact, and what candidates agree to',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/languages',
        icon: 'languages',
        label: 'Languages and times',
        about: 'Which languages you offer, and your time zone',
        isFor: 'manage_settings',
      },
    ],
  },
  {
    id: 'data',
    label: 'Data',
    pages: [
      {
        path: 'settings/retention',
        icon: 'calendar-clock',
        label: 'Retention',
        about: 'How long ended invites are kept',
        isFor: 'erase_candidates',
      },
      {
        path: 'settings/transcripts',
        icon: 'languages',
        label: 'Transcripts',
        about: 'Speech recognition for recorded answers, and where recordings go',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/notes',
        icon: 'pencil-line',
        label: 'Notes on recordings',
        about: 'Categories that graders choose from',
        isFor: 'manage_settings',
      },
      {
        path: 'settings/erasures',
        icon: 'file-text',
        label: 'Erasures',
        about: 'Receipts of what was erased',
        isFor: 'erase_candidates',
      },
      {
        path: 'archives',
        icon: 'archive',
        label: 'Archives',
        about: 'Downloads of all data about one person or the organization',
        isFor: 'erase_candidates',
      },
      {
        path: 'settings/export',
        icon: 'download',
        label: 'Export the organization',
        about: 'Everything in one file, for you or for another installation',
        isFor: 'export_organization',
      },
      {
        path: 'settings/erase-organization',
        icon: 'trash-2',
        label: 'Erase the organization',
        about: 'Erases everything after two weeks. Until then, any owner can cancel',
        isFor: 'erase_organization',
      },
    ],
  },
]

/** Settings that the member may see, without empty groups. */
export const settingsOf = (ctx: Context): SettingsGroup[] =>
  GROUPS.map((group) => ({ ...group, pages: group.pages.filter(({ isFor }) => may(ctx, isFor)) })).filter(
    ({ pages }) => pages.length > 0,
  )
