import { expect, it } from 'vitest'
import { startServiceForFile } from '../../support/service.ts'
import { MEMBER_CATALOGUE } from './member-catalogue.ts'
import { type Catalogue, CODE, MACHINE, SECRET, SERVICE_CATALOGUE } from './service-catalogue.ts'

const service = await startServiceForFile()

/** The row belongs to the candidate's invite. */
const WITH_ROW = 'deleted with its row'
const OWN_WORDS = 'texts of the organization, not about candidates'
const MEMBERS = 'data of a member or their account, which another erasure covers'
const LISTS = 'deleted with the row of the candidate list'

/**
 * Effect of erasing a candidate on each text column. A column that is not listed fails the test. `erased` names the step of domain/erasure
 * that erases the columns, `nobody` the reason why they contain no candidate.
 */
const CATALOGUE: Catalogue = {
  ...SERVICE_CATALOGUE,
  'public.api_keys': {
    nobody: {
      [OWN_WORDS]: 'name networks',
      [SECRET]: 'hash last_four previous_hash',
      [CODE]: 'rights scopes',
      [MACHINE]: 'last_used_from',
    },
  },
  'public.archives': {
    erased: { 'traces: row deleted with the file': 'address_hmac encrypted_address' },
    nobody: { 'random key, until the file is deleted': 'key', [CODE]: 'subject actor_kind' },
  },
  'public.asset_parts': { nobody: { [OWN_WORDS]: 'sha256' } },
  'public.assets': { nobody: { [OWN_WORDS]: 'sha256', [CODE]: 'kind state key content_type' } },
  'public.assessment_pools': { nobody: { [OWN_WORDS]: 'name' } },
  'public.assessment_sections': { nobody: { [OWN_WORDS]: 'name intro', [CODE]: 'navigation' } },
  'public.captions': { nobody: { [OWN_WORDS]: 'segments', [CODE]: 'state problem language model' } },
  'public.assessments': {
    nobody: { [OWN_WORDS]: 'name name_key name_search bands', [CODE]: 'skill_types interface_language client_sees' },
  },
  'public.ats_calls': {
    erased: {
      'invites: deleted with the order; events: emptied if there is no order and it contains the candidate': 'error answer',
    },
    nobody: { [CODE]: 'name' },
  },
  'public.ats_connections': { nobody: { [CODE]: 'ats', [SECRET]: 'encrypted_api_key ats_api_key_last_four' } },
  'public.ats_keys': { nobody: { [SECRET]: 'hash last_four encrypted_key' } },
  'public.ats_orders': { erased: { [WITH_ROW]: 'natural_key callback_url profile_url reported_status last_error' } },
  'public.ats_reports': { erased: { [WITH_ROW]: 'status' } },
  'public.audit_entries': {
    erased: { 'traces: texts that contain the person are emptied': 'details' },
    nobody: { [CODE]: 'actor_kind action target_kind', [MEMBERS]: 'address user_agent request_id' },
  },
  'public.audit_sequence': { nobody: { [MACHINE]: 'database' } },
  'public.bulk_change_rows': { erased: { [WITH_ROW]: 'issues' } },
  'public.bulk_changes': { nobody: { 'days, a tag, a grader, or a note about many': 'params' } },
  'public.categories': { nobody: { [OWN_WORDS]: 'name' } },
  'public.consent_texts': { nobody: { [OWN_WORDS]: 'body', [CODE]: 'language' } },
  'public.credentials': { nobody: { [MEMBERS]: 'email language', [SECRET]: 'password_hash' } },
  'public.devices': { nobody: { [MEMBERS]: 'user_agent network', [SECRET]: 'token_hash' } },
  'public.erasures': {
    erased: { 'receipt: set to null': 'encrypted_address' },
    nobody: { 'keyed hash of the address, which reveals nothing': 'address_hmac', [CODE]: 'subject actor_kind step counts' },
  },
  'public.event_sequence': { nobody: { [MACHINE]: 'database' } },
  'public.events': {
    erased: { 'events: the fields set by the caller are removed': 'data' },
    nobody: { [CODE]: 'type tested_type actor_type' },
  },
  'public.grades': { erased: { [WITH_ROW]: 'comment' } },
  'public.grading_assignments': { nobody: { [CODE]: 'language' } },
  'public.grading_notes': { erased: { [WITH_ROW]: 'category text' } },
  'public.idempotency_records': {
    erased: { 'traces: emptied if it contains the person': 'body', 'traces: row deleted if it contains the person': 'key' },
    nobody: { 'hash of a whole request': 'fingerprint', 'kind and id of an actor': 'encrypted_for' },
  },
  'public.identities': { nobody: { [MEMBERS]: 'issuer subject last_email', [CODE]: 'linked_by' } },
  'public.import_files': {
    erased: { 'row deleted within a day, confirmed or not': 'bytes form' },
    nobody: { [OWN_WORDS]: 'file_name choices', [CODE]: 'kind' },
  },
  'public.import_mappings': { nobody: { [OWN_WORDS]: 'heading', [CODE]: 'kind meaning' } },
  'public.instructions': { nobody: { [OWN_WORDS]: 'title body' } },
  'public.invite_batch_rows': { erased: { [LISTS]: 'email name terms issues' } },
  'public.invite_batches': {
    nobody: { 'settings, column names, and file name of a list': 'terms unused_columns file_name' },
  },
  'public.invite_emails': {
    erased: { [WITH_ROW]: 'kind dedupe_key language message reason bounce bounce_status bounce_reason' },
  },
  'public.invites': {
    erased: {
      [WITH_ROW]:
        'recipient_email recipient_name recipient_name_search custom_message external_id metadata return_url language chosen_language time_zone waived_checks',
    },
  },
  'public.languages': { nobody: { [CODE]: 'code name' } },
  'public.library_categories': { nobody: { [OWN_WORDS]: 'path' } },
  'public.library_import_rows': { nobody: { [OWN_WORDS]: 'name category question content_hash notes', [CODE]: 'state' } },
  'public.library_imports': { nobody: { [OWN_WORDS]: 'file_name unused_columns', [CODE]: 'format' } },
  'public.library_questions': { nobody: { [OWN_WORDS]: 'name name_words', [CODE]: 'response_type' } },
  'public.library_versions': { nobody: { [OWN_WORDS]: 'content content_hash' } },
  'public.mail_events': {
    erased: { 'mails: row deleted with the mail; emptied after processing': 'body', mails: 'event_id' },
    nobody: { [CODE]: 'provider' },
  },
  'public.mail_outages': { erased: { 'mails: emptied if it contains the person': 'reason' }, nobody: { [CODE]: 'about' } },
  'public.mail_templates': { nobody: { [OWN_WORDS]: 'subject body', [CODE]: 'kind language' } },
  'public.media_files': {
    erased: { [WITH_ROW]: 'key content_type file_name threat', 'deleted with the recording; its row is deleted later': 'levels' },
  },
  'public.deleted_media_files': { nobody: { 'random key, until the files are deleted': 'key' } },
  'public.transcripts': { erased: { [WITH_ROW]: 'state problem language model text segments original' } },
  'public.media_file_parts': { erased: { [WITH_ROW]: 'sha256' } },
  'public.member_emails': { nobody: { [MEMBERS]: 'facts reason', [CODE]: 'kind dedupe_key' } },
  'public.members': {
    nobody: { [MEMBERS]: 'email department time_zone', [CODE]: 'roles portal_roles sign_in_exception notices' },
  },
  'public.open_link_refusals': { nobody: { 'keyed hash of the address, which reveals nothing': 'address_hmac' } },
  'public.open_links': { nobody: { [OWN_WORDS]: 'email_domains', [SECRET]: 'token' } },
  'public.registrations': {
    erased: { 'traces: row deleted, also with its invite': 'email name language network proof reason bounce' },
  },
  'public.organization_suspensions': { nobody: { [CODE]: 'actor_kind counts reason', [OWN_WORDS]: 'moved_to' } },
  'public.organization_security': { nobody: { [OWN_WORDS]: 'networks api_key_networks' } },
  'public.organizations': {
    nobody: {
      [OWN_WORDS]: 'name name_key sender_name reply_to invitation_text return_hosts page_links note_categories decision_names',
      'host chosen by the operator': 'transcription_host',
      [CODE]:
        'language languages_offered time_zone candidate_mails main_template_language primary_color background_color logo_hash',
    },
  },
  'public.submission_questions': {
    erased: {
      [WITH_ROW]:
        'input_type response_type script script_format audio_url video_url source_language target_language shown rubric',
    },
  },
  'public.submission_sections': { erased: { [WITH_ROW]: 'name intro navigation' } },
  'public.saved_forms': { erased: { 'traces: decrypted, and row deleted if it contains the person': 'url body' } },
  'public.answer_keys': { nobody: { [OWN_WORDS]: 'key reason', [CODE]: 'effect releases progress' } },
  'public.question_scores': { erased: { [WITH_ROW]: 'parts outcome' } },
  'public.question_versions': { nobody: { [OWN_WORDS]: 'spec', [CODE]: 'response_type' } },
  'public.questions': {
    nobody: {
      [OWN_WORDS]: 'script audio_url video_url rubric',
      [CODE]: 'input_type script_format response_type source_language target_language',
    },
  },
  'public.recovery_codes': { nobody: { [SECRET]: 'hash' } },
  'public.releases': { erased: { [WITH_ROW]: 'comment message grades band' } },
  'public.reminder_rules': { nobody: { [CODE]: 'steps' } },
  'public.saved_filters': { erased: { 'traces: row deleted if it contains the person': 'name query' } },
  'public.share_links': { nobody: { 'receiver of a link, who is another person': 'receiver', [CODE]: 'shows' } },
  'public.shared_results': { erased: { [WITH_ROW]: 'vote comment' } },
  'public.second_factors': {
    nobody: { [MEMBERS]: 'name', [SECRET]: 'encrypted_secret webauthn_id public_key', [CODE]: 'transports rp_id' },
  },
  'public.session_events': { erased: { [WITH_ROW]: 'kind' } },
  'public.session_authentications': { nobody: { [MEMBERS]: 'idp_sid amr acr', [CODE]: 'kind' } },
  'public.sessions': { nobody: { [MEMBERS]: 'user_agent network', [SECRET]: 'token_hash', [CODE]: 'end_reason' } },
  'public.sign_in_attempts': { nobody: { 'hash, deleted within a day': 'key' } },
  'public.sign_in_domains': { nobody: { [OWN_WORDS]: 'domain', [SECRET]: 'token' } },
  'public.sign_in_providers': {
    nobody: {
      [OWN_WORDS]: 'name issuer client_id required_claims acr_values',
      [SECRET]: 'encrypted_client_secret encrypted_draft tested_settings_hash',
      [CODE]: 'client_auth default_roles second_factor',
      [MEMBERS]: 'last_error',
    },
  },
  'public.used_tokens': { nobody: { [SECRET]: 'key' } },
  'public.submissions': {
    erased: {
      [WITH_ROW]:
        'consent_language consent_text_hash organization_consent_language consent_media passed_checks user_agent graded_languages decision decision_note',
    },
  },
  'public.suppressions': {
    erased: { 'suppressions: replaced by a code, which keeps the address suppressed': 'address' },
    nobody: { [CODE]: 'reason scope' },
  },
  'public.sweep_parts': { nobody: { [MACHINE]: 'part' } },
  'public.tags': { nobody: { [OWN_WORDS]: 'name name_key name_search color description icon' } },
  'public.answer_attempts': { erased: { [WITH_ROW]: 'text value prompt_timing' } },
  'public.users': { nobody: { [MEMBERS]: 'first_name last_name first_name_key last_name_key search_key email avatar_url' } },
  'public.webhook_attempts': {
    erased: { 'events: emptied, and no longer stored for erased candidates': 'answer' },
    nobody: { 'error message of the service': 'error' },
  },
  'public.webhook_endpoints': {
    nobody: { [OWN_WORDS]: 'url description', [CODE]: 'types', [SECRET]: 'encrypted_secret encrypted_previous_secret' },
  },
}

const columnsOf = ({ erased = {}, nobody = {} }: (typeof CATALOGUE)[string]): string[] =>
  [...Object.values(erased), ...Object.values(nobody)].flatMap((columns) => columns.split(' '))

/** Reads all columns that can contain text, as `schema.table column`. Partitions count as their table. */
async function readColumns(): Promise<string[]> {
  const rows = await service.db.$queryRaw<{ name: string }[]>`
    SELECT format('%s.%s %s', n.nspname, c.relname, a.attname) AS name
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_type element ON element.oid = t.typelem AND t.typcategory = 'A'
    WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%' AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
      AND coalesce(element.typname, t.typname) IN ('text', 'varchar', 'bpchar', 'char', 'name', 'json', 'jsonb', 'bytea', 'xml', 'citext', 'hstore', 'tsvector')`
  return rows.map(({ name }) => name).sort()
}

const namedBy = (catalogue: typeof CATALOGUE) =>
  Object.entries(catalogue)
    .flatMap(([table, of]) => columnsOf(of).map((column) => `${table} ${column}`))
    .sort()

const SUBJECTS = [
  ['a candidate', namedBy(CATALOGUE)],
  ['a member or an orphaned account', namedBy(MEMBER_CATALOGUE)],
] as const

it.each(SUBJECTS)('lists, for each column that can hold text, what the erasure of %s does with it', async (_, named) => {
  expect(await readColumns()).toEqual(named)
})

it.each(SUBJECTS)('fails if a column of %s is added without a decision', async (_, named) => {
  await service.db.$executeRaw`CREATE TABLE planted (id uuid PRIMARY KEY, words text[], blob bytea, said jsonb, number int)`
  await service.db.$executeRaw`ALTER TABLE tags ADD COLUMN planted varchar(10)`
  const missed = (await readColumns()).filter((column) => !named.includes(column))
  await service.db.$executeRaw`DROP TABLE planted`
  await service.db.$executeRaw`ALTER TABLE tags DROP COLUMN planted`
  expect(missed).toEqual(['public.planted blob', 'public.planted said', 'public.planted words', 'public.tags planted'])
})
