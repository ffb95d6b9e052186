import { type Catalogue, CODE, MACHINE, SECRET, SERVICE_CATALOGUE } from './service-catalogue.ts'

const CANDIDATES = 'data of candidates, which another erasure covers'
const OWN_WORDS = 'texts of the organization, not about members'
const WORK = 'work for the organization, which stays as the work of a former member'
/** For columns of the account. The sweep deletes accounts that belonged to no organization for 30 days. */
const ACCOUNT = 'at once: deleted with the account, unless another organization uses it; orphaned account: deleted with it'

/**
 * Effect of erasing a member, or an orphaned account, on each text column. `erased` names the time and the step of domain/erasure that
 * erases the columns, `nobody` the reason why they contain no member.
 */
export const MEMBER_CATALOGUE: Catalogue = {
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
    erased: { 'media: deleted with the file': 'key' },
    nobody: { [CANDIDATES]: 'address_hmac encrypted_address', [CODE]: 'subject actor_kind' },
  },
  'public.asset_parts': { nobody: { [OWN_WORDS]: 'sha256' } },
  'public.assets': { nobody: { [OWN_WORDS]: 'sha256', [CODE]: 'kind state key content_type' } },
  'public.assessment_pools': { nobody: { [OWN_WORDS]: 'name' } },
  'public.assessment_sections': { nobody: { [OWN_WORDS]: 'name intro', [CODE]: 'navigation' } },
  'public.captions': { nobody: { [OWN_WORDS]: 'segments', [CODE]: 'state problem language model' } },
  'public.assessments': {
    nobody: { [OWN_WORDS]: 'name name_key name_search bands', [CODE]: 'skill_types interface_language client_sees' },
  },
  'public.ats_calls': { nobody: { 'data for recruiting systems contains no member': 'error answer', [CODE]: 'name' } },
  'public.ats_connections': { nobody: { [CODE]: 'ats', [SECRET]: 'encrypted_api_key ats_api_key_last_four' } },
  'public.ats_keys': { nobody: { [SECRET]: 'hash last_four encrypted_key' } },
  'public.ats_orders': { nobody: { [CANDIDATES]: 'natural_key callback_url profile_url reported_status last_error' } },
  'public.ats_reports': { nobody: { [CODE]: 'status' } },
  'public.audit_entries': {
    erased: {
      'traces: texts that contain the person are emptied': 'details',
      'traces: emptied in entries of their own actions': 'address user_agent',
    },
    nobody: { [CODE]: 'actor_kind action target_kind', 'generated id': 'request_id' },
  },
  'public.audit_sequence': { nobody: { [MACHINE]: 'database' } },
  'public.bulk_change_rows': { nobody: { [CANDIDATES]: 'issues' } },
  'public.bulk_changes': { nobody: { 'days, a tag, a grader by id, or a note about candidates': 'params' } },
  'public.categories': { nobody: { [OWN_WORDS]: 'name' } },
  'public.consent_texts': { nobody: { [OWN_WORDS]: 'body', [CODE]: 'language' } },
  'public.credentials': { erased: { [ACCOUNT]: 'email language password_hash' } },
  'public.devices': { erased: { [ACCOUNT]: 'user_agent network token_hash' } },
  'public.erasures': {
    erased: { 'receipt: set to null': 'encrypted_address' },
    nobody: { 'keyed hash of the address, which reveals nothing': 'address_hmac', [CODE]: 'subject actor_kind step counts' },
  },
  'public.event_sequence': { nobody: { [MACHINE]: 'database' } },
  'public.events': { nobody: { [CANDIDATES]: 'data', [CODE]: 'type tested_type actor_type' } },
  'public.grades': { nobody: { [WORK]: 'comment' } },
  'public.grading_assignments': { nobody: { [CODE]: 'language' } },
  'public.grading_notes': { nobody: { [WORK]: 'category text' } },
  'public.idempotency_records': {
    erased: {
      'traces: emptied if it contains the person': 'body',
      'traces: replaced by a code if it contains the person': 'key',
    },
    nobody: { 'hash of a whole request': 'fingerprint', 'kind and id of an actor': 'encrypted_for' },
  },
  'public.identities': {
    erased: { [`${ACCOUNT}; identities of this organization in any case`]: 'issuer subject last_email linked_by' },
  },
  'public.import_files': {
    nobody: { [CANDIDATES]: 'bytes form', [OWN_WORDS]: 'file_name choices', [CODE]: 'kind' },
  },
  'public.import_mappings': { nobody: { [OWN_WORDS]: 'heading', [CODE]: 'kind meaning' } },
  'public.instructions': { nobody: { [OWN_WORDS]: 'title body' } },
  'public.invite_batch_rows': { nobody: { [CANDIDATES]: 'email name terms issues' } },
  'public.invite_batches': {
    nobody: { 'settings, column names, and file name of a list': 'terms unused_columns file_name' },
  },
  'public.invite_emails': {
    nobody: { [CANDIDATES]: 'kind dedupe_key language message reason bounce bounce_status bounce_reason' },
  },
  'public.invites': {
    nobody: {
      [CANDIDATES]:
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
    erased: { 'mails: row deleted with the mail; emptied after processing': 'body event_id' },
    nobody: { [CODE]: 'provider' },
  },
  'public.mail_outages': { erased: { 'mails: emptied if it contains the person': 'reason' }, nobody: { [CODE]: 'about' } },
  'public.mail_templates': { nobody: { [OWN_WORDS]: 'subject body', [CODE]: 'kind language' } },
  'public.media_files': { nobody: { [CANDIDATES]: 'key content_type file_name threat levels' } },
  'public.deleted_media_files': { nobody: { 'random key, until the files are deleted': 'key' } },
  'public.transcripts': { nobody: { [CANDIDATES]: 'text segments original', [CODE]: 'state problem language model' } },
  'public.media_file_parts': { nobody: { [CANDIDATES]: 'sha256' } },
  'public.member_emails': {
    erased: {
      'at once: deleted in mails to them; traces: actor and network removed in mails to others': 'facts',
      'at once: deleted in mails to them': 'reason kind dedupe_key',
    },
  },
  'public.members': {
    erased: {
      'at once: emptied, or replaced by a neutral value':
        'email department time_zone roles portal_roles sign_in_exception notices',
    },
  },
  'public.open_link_refusals': { nobody: { [CANDIDATES]: 'address_hmac' } },
  'public.open_links': { nobody: { [OWN_WORDS]: 'email_domains', [SECRET]: 'token' } },
  'public.registrations': { nobody: { [CANDIDATES]: 'email name language network proof reason bounce' } },
  'public.organization_suspensions': { nobody: { [CODE]: 'actor_kind counts reason', [OWN_WORDS]: 'moved_to' } },
  'public.organization_security': { nobody: { [OWN_WORDS]: 'networks api_key_networks' } },
  'public.organizations': {
    nobody: {
      [OWN_WORDS]: 'name name_key sender_name reply_to invitation_text return_hosts page_links note_categories decision_names',
      [CODE]:
        'language languages_offered time_zone candidate_mails main_template_language primary_color background_color logo_hash transcription_host',
    },
  },
  'public.submission_questions': {
    nobody: {
      [OWN_WORDS]:
        'input_type response_type script script_format audio_url video_url source_language target_language shown rubric',
    },
  },
  'public.submission_sections': { nobody: { [OWN_WORDS]: 'name intro', [CODE]: 'navigation' } },
  'public.saved_forms': {
    erased: {
      [`${ACCOUNT}; forms for this organization in any case; traces: others’ forms that contain the person`]: 'url body',
    },
  },
  'public.answer_keys': { nobody: { [WORK]: 'key reason', [CODE]: 'effect releases progress' } },
  'public.question_scores': { nobody: { [CANDIDATES]: 'parts outcome' } },
  'public.question_versions': { nobody: { [OWN_WORDS]: 'spec', [CODE]: 'response_type' } },
  'public.questions': {
    nobody: {
      [OWN_WORDS]: 'script audio_url video_url rubric',
      [CODE]: 'input_type script_format response_type source_language target_language',
    },
  },
  'public.recovery_codes': { erased: { [ACCOUNT]: 'hash' } },
  'public.releases': { nobody: { [WORK]: 'comment message grades band' } },
  'public.reminder_rules': { nobody: { [CODE]: 'steps' } },
  'public.saved_filters': {
    erased: { 'at once: private filters deleted; traces: replaced if it contains the person': 'name query' },
  },
  'public.share_links': { nobody: { 'receiver of a link, who is no member': 'receiver', [CODE]: 'shows' } },
  'public.shared_results': { nobody: { [CANDIDATES]: 'vote comment' } },
  'public.second_factors': {
    erased: { [ACCOUNT]: 'name encrypted_secret webauthn_id public_key transports rp_id' },
  },
  'public.session_events': { nobody: { [CANDIDATES]: 'kind' } },
  'public.session_authentications': {
    erased: { [`${ACCOUNT}; authentications of the organization’s identity provider in any case`]: 'idp_sid amr acr kind' },
  },
  'public.sessions': {
    erased: {
      [`${ACCOUNT}; sessions of the organization’s identity provider in any case`]: 'user_agent network token_hash end_reason',
    },
  },
  'public.sign_in_attempts': { nobody: { 'hash, deleted within a day': 'key' } },
  'public.sign_in_domains': { nobody: { [OWN_WORDS]: 'domain', [SECRET]: 'token' } },
  'public.sign_in_providers': {
    erased: { 'traces: emptied if it contains the person': 'last_error' },
    nobody: {
      [OWN_WORDS]: 'name issuer client_id required_claims acr_values',
      [SECRET]: 'encrypted_client_secret encrypted_draft tested_settings_hash',
      [CODE]: 'client_auth default_roles second_factor',
    },
  },
  'public.used_tokens': { nobody: { [SECRET]: 'key' } },
  'public.submissions': {
    nobody: {
      [CANDIDATES]:
        'consent_language consent_text_hash organization_consent_language consent_media passed_checks user_agent graded_languages decision decision_note',
    },
  },
  'public.suppressions': { nobody: { [CANDIDATES]: 'address', [CODE]: 'reason scope' } },
  'public.sweep_parts': { nobody: { [MACHINE]: 'part' } },
  'public.tags': { nobody: { [OWN_WORDS]: 'name name_key name_search color description icon' } },
  'public.answer_attempts': { nobody: { [CANDIDATES]: 'text value prompt_timing' } },
  'public.users': {
    erased: {
      'at once: deleted, unless another organization uses it, and shown as “A former member”; orphaned account: deleted':
        'first_name last_name first_name_key last_name_key search_key email avatar_url',
    },
  },
  'public.webhook_attempts': { nobody: { 'responses of webhooks contain no member': 'answer', [CODE]: 'error' } },
  'public.webhook_endpoints': {
    nobody: { [OWN_WORDS]: 'url description', [CODE]: 'types', [SECRET]: 'encrypted_secret encrypted_previous_secret' },
  },
}
