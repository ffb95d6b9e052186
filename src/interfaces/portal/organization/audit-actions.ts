import type { AuditAction } from '../../../domain/audit/record-audit.ts'

const SIGNING_IN = {
  signed_in: 'signed in',
  failed_sign_in: 'entered a wrong password',
  refused: 'was refused',
  refused_sign_in: 'refused a sign-in by an identity provider',
  resumed_form: 'sent a form that was saved until they signed in again',
  changed_name: 'changed their name',
  changed_password: 'changed their password',
  reset_password: 'set a new password with a link',
  proved_address: 'verified their address, which removed the account’s earlier setup',
  admitted_browser: 'confirmed a browser with an emailed link',
  added_factor: 'added a second step to their sign-in',
  renamed_factor: 'renamed a second step of their sign-in',
  removed_factor: 'removed a second step of their sign-in',
  made_recovery_codes: 'created new recovery codes',
  reset_factors: 'reset the second step of a member',
  ended_sessions: 'signed out sessions',
  ended_member_sessions: 'signed out a member',
  linked_identity: 'linked an account of an identity provider',
  unlinked_identity: 'unlinked an account of an identity provider',
  used_break_glass: 'signed in without single sign-on',
}

const MEMBERS = {
  joined: 'joined',
  invited_member: 'invited a member',
  sent_join_link: 'sent a new invitation link',
  changed_member: 'changed a member',
  changed_client_assessments: 'changed which assessments a client sees',
  deactivated_member: 'deactivated a member',
  reactivated_member: 'reactivated a member',
  erased_member: 'erased a member',
  exported_members: 'exported members',
  offered_ownership: 'asked a member to become an owner',
  withdrew_ownership_offer: 'withdrew an offer to become an owner',
  refused_ownership: 'declined to become an owner',
  became_owner: 'made a member an owner',
  ended_ownership: 'ended a member’s ownership',
}

const SECURITY = {
  changed_security: 'changed the security settings',
  added_sign_in_provider: 'added an identity provider',
  changed_sign_in_provider: 'changed an identity provider',
  tried_sign_in_provider: 'tried an identity provider',
  removed_sign_in_provider: 'removed an identity provider',
  allowed_relinking: 'allowed members to be linked again',
  discarded_sign_in_settings: 'discarded a draft of sign-in settings',
  added_sign_in_domain: 'added a domain to single sign-on',
  verified_sign_in_domain: 'verified a domain for single sign-on',
  removed_sign_in_domain: 'removed a domain from single sign-on',
  lost_sign_in_domain: 'lost a domain for single sign-on to another organization',
  enforced_sso: 'required single sign-on',
  stopped_enforcing_sso: 'allowed other sign-in methods than single sign-on',
  changed_sign_in_exception: 'changed who may sign in without single sign-on',
  exported_audit_log: 'exported the audit log',
}

const SETTINGS = {
  changed_settings: 'changed the organization’s settings',
  changed_mail_text: 'changed the text of an email to candidates',
  tested_mail_text: 'emailed themselves a test of a text',
  changed_brand: 'changed the colors or the logo',
  changed_page_words: 'changed the links or the consent text of candidates’ pages',
  changed_reminders: 'changed when candidates are reminded',
  changed_notices: 'changed which notices candidates get',
  created_tag: 'created a tag',
  changed_tag: 'changed a tag',
  deleted_tag: 'deleted a tag',
}

const ASSESSMENTS = {
  created_assessment: 'created an assessment',
  updated_assessment: 'changed an assessment',
  duplicated_assessment: 'duplicated an assessment',
  archived_assessment: 'archived an assessment',
  unarchived_assessment: 'unarchived an assessment',
  deleted_assessment: 'deleted an assessment',
  added_question: 'added a question',
  updated_question: 'changed a question',
  moved_question: 'moved a question',
  ordered_questions: 'reordered questions',
  duplicated_question: 'duplicated a question',
  deleted_question: 'deleted a question',
  corrected_key: 'corrected an answer key',
  saved_to_library: 'saved a question to the library',
  saved_library_version: 'saved a version of a question in the library',
  changed_library_question: 'changed a question of the library',
  retired_library_question: 'archived a question of the library',
  restored_library_question: 'restored a question of the library',
  imported_questions: 'imported questions',
  undid_import: 'undid an import of questions',
  exported_questions: 'exported questions',
}

const INVITES = {
  invited: 'invited a candidate',
  resent_invite: 'sent an invitation again',
  extended_invite: 'extended an invite',
  shortened_invite: 'shortened an invite',
  corrected_invite: 'corrected an invite',
  changed_extra_time: 'changed the extra time of a candidate',
  revoked_invite: 'revoked an invite',
  reactivated_invite: 'reactivated an invite',
  assigned_grader: 'assigned a grader',
  tagged_invite: 'tagged an invite',
  untagged_invite: 'untagged an invite',
  waived_requirement: 'waived a requirement',
  stopped_reminders: 'switched reminders off for an invite',
  resumed_reminders: 'switched reminders on for an invite',
  suppressed_address: 'blocked an address',
  lifted_suppression: 'unblocked an address',
  exported_invites: 'exported invites',
}

const LISTS = {
  invited_many: 'invited a list of candidates',
  stopped_batch: 'stopped a list of candidates',
  resumed_batch: 'resumed a list of candidates',
  discarded_batch: 'discarded a list of candidates',
  exported_invite_batch: 'exported a list of candidates',
  looked_into_bounces: 'resumed lists after bounces',
  changed_many: 'changed invites in bulk',
  stopped_bulk_change: 'stopped a bulk change',
  resumed_bulk_change: 'resumed a bulk change',
  exported_bulk_change: 'exported the outcome of a bulk change',
}

const GRADING = {
  graded: 'graded answers',
  assigned_second_grader: 'assigned a second grader',
  released_result: 'released a result',
  reopened_result: 'reopened a result',
  exported_grades: 'exported grades',
  exported_results: 'exported results',
}

const INTEGRATIONS = {
  generated_key: 'generated an API key',
  rotated_key: 'rotated an API key',
  changed_key: 'changed an API key',
  revoked_key: 'revoked an API key',
  created_webhook: 'created a webhook',
  changed_webhook: 'changed a webhook',
  enabled_webhook: 'enabled a webhook',
  disabled_webhook: 'disabled a webhook',
  deleted_webhook: 'deleted a webhook',
  rotated_webhook_secret: 'rotated the secret of a webhook',
  tested_webhook: 'tested a webhook',
  replayed_webhook: 'replayed events to a webhook',
  generated_ats_key: 'generated a key for a recruiting system',
  revoked_ats_key: 'revoked a key of a recruiting system',
  entered_key_of_ats: 'entered a recruiting system’s own key',
  tested_ats: 'tested a connection to a recruiting system',
  reported_to_ats_again: 'reported to a recruiting system again',
}

const STORED_DATA = {
  asked_for_erasure: 'requested the erasure of a candidate',
  asked_for_organization_erasure: 'requested the erasure of the organization',
  kept_organization: 'stopped the erasure of the organization',
  asked_for_archive: 'requested an archive about somebody',
  fetched_archive: 'downloaded an archive about somebody',
  changed_retention: 'changed how long ended invites are kept',
  erased_ended_invites: 'erased ended invites',
  deleted_media: 'deleted photos and recordings',
  deleted_test_data: 'deleted all test data',
  changed_open_link: 'changed an open link',
  replaced_open_link: 'replaced an open link',
}

/** Actions as the log shows them, after the name of the actor. */
export const ACTION_LABELS: Record<AuditAction, string> = {
  ...SIGNING_IN,
  ...MEMBERS,
  ...SECURITY,
  ...SETTINGS,
  ...ASSESSMENTS,
  ...INVITES,
  ...LISTS,
  ...GRADING,
  ...INTEGRATIONS,
  ...STORED_DATA,
}

/** The same actions by subject, for the filter of the log. */
export const ACTION_GROUPS = (
  [
    ['Signing in', SIGNING_IN],
    ['Members', MEMBERS],
    ['Security and single sign-on', SECURITY],
    ['Settings and tags', SETTINGS],
    ['Assessments and questions', ASSESSMENTS],
    ['Invites', INVITES],
    ['Lists and bulk changes', LISTS],
    ['Grading and results', GRADING],
    ['Integrations', INTEGRATIONS],
    ['Stored data', STORED_DATA],
  ] as const
).map(([label, actions]) => [label, Object.entries(actions)] as const)
