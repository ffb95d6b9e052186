/**
 * Files that may import src/db/unscoped.ts, each with the reason why its queries can't be limited to one organization. Paths are relative to
 * src/. The tenant database doesn't have tables without an organization, such as `sessions`.
 */
export const UNSCOPED_FILES = {
  // Tables without an organization.
  'domain/concurrency/secret-fingerprint.ts': 'The fingerprint of the secret keys belongs to the installation.',
  'domain/erasure/purge-account-traces.ts': 'Sessions belong to an account, which may be a member of several organizations.',
  'domain/mails/mail-outage.ts': 'An outage of the mail server stops the mails of all organizations.',
  'domain/sign-in/credential-lock.ts': 'Credentials belong to an account, which may be a member of several organizations.',
  'domain/sign-in/devices.ts': 'Devices belong to a credential.',
  'domain/sign-in/saved-forms.ts': 'Saved forms belong to a credential.',
  'domain/sign-in/sessions.ts': 'Sessions and credentials belong to an account.',
  'domain/sign-in/sign-in-attempts.ts': 'Attempts are counted by address and network, before the account is known.',
  'domain/sign-in/sign-in.ts': 'Finds the credential of an address at sign-in.',
  'domain/sign-in/used-tokens.ts': 'A used token is identified by its key alone.',
  'domain/webhooks/change-endpoint.ts':
    'Locks the position up to which events of all organizations were handed over to webhooks.',

  // Memberships, identities, and mails of one account.
  'domain/archives/member-data.ts': 'Counts the memberships of an account in other organizations.',
  'domain/members/manage-members.ts': 'Counts the memberships of an account, which may be in several organizations.',
  'domain/organization/test-mail-text.ts': 'Limits test mails by account, which may belong to several organizations.',
  'domain/sign-in/account-links.ts': 'A new password makes the links of an account in all organizations invalid.',
  'domain/sign-in/prove-address.ts': 'Removes the identities of an account, which belong to no organization.',
  'domain/single-sign-on/identities.ts': 'An account has identities in several organizations, and at providers of the operator.',

  // Rows that identify their organization.
  'domain/api-keys/api-keys.ts': 'The operator names a key without its organization.',
  'domain/erasure/erase-organization.ts': "Locks the members' credentials, which may belong to other organizations, too.",
  'domain/erasure/request-member-erasure.ts': "Locks the member's credential, which may belong to other organizations, too.",
  'domain/sharing/open-share-link.ts': 'A link to results has its own id, and not its organization.',
  'domain/invites/candidate-moves.ts': 'The link of a candidate has the id of the invite, and not its organization.',
  'domain/invites/record-mail-event.ts': "A bounce has the mail's id, and not its organization.",
  'domain/invites/suppress-bounced.ts': "A bounce has the mail's id, and not its organization.",
  'domain/invites/unsubscribe.ts': 'The link in a mail has the id of the invite, and not its organization.',
  'domain/mails/mail-events.ts':
    "A provider's notice has the mail's id, and not its organization. Unread notices have no organization.",
  'domain/members/create-first-key.ts': 'Finds an organization by the name in a setting.',
  'domain/sign-in/domain-owners.ts': 'Finds the organization that has verified the domain of an address.',
  'domain/single-sign-on/domains.ts': 'Finds another organization that has verified the same domain.',
  'domain/submissions/uploads/put-part.ts': 'The link of a candidate has the id of the invite, and not its organization.',

  // Shared sequences and the feed.
  'domain/audit/sequence-audit-entries.ts': 'Assigns positions to the audit entries of all organizations from one sequence.',
  'domain/events/advance-sequences.ts': 'Moves the shared sequences past those of another installation.',
  'domain/events/find-end-of-batch.ts': 'Reads positions of the sequence that the events of all organizations share.',
  'domain/events/feed.ts':
    "Reads the shared sequence. The feed's queries limit themselves to their organization by a range of an index.",
  'domain/events/detect-restore.ts': 'Moves the shared sequence after a restore of the database.',
  'domain/events/sequence-events.ts': 'Assigns positions to the events of all organizations from one sequence.',

  // Workers process all organizations.
  'domain/ats/enqueue-reports.ts': 'Creates the reports of the newest events of all organizations.',
  'domain/ats/lease-reports.ts': 'Leases due reports of all organizations.',
  'domain/events/record-events.ts': "Records a mail's outcome with its event, by the mail's id.",
  'domain/invites/emails.ts':
    'Changes queued mails by the refs in their jobs, and counts those of all organizations for metrics.',
  'domain/invites/read-emails.ts': 'Reads a batch of mails of several organizations, with their templates.',
  'domain/submissions/grading/assign-answers.ts': 'Finds the organizations that assign graders.',
  'domain/webhooks/enqueue-deliveries.ts': 'Creates the deliveries of the newest events of all organizations.',
  'domain/webhooks/measure-webhooks.ts': 'Counts deliveries of all organizations for metrics.',
  'domain/webhooks/delivery-attempts.ts': 'Leases due deliveries of all organizations.',

  // Sweeps find due rows of all organizations.
  'domain/assets/check-unused.ts': 'Checks the assets of all organizations for references.',
  'domain/ats/calls.ts': 'Deletes expired reports.',
  'domain/audit/record-audit.ts': "Deletes audit entries after their organization's number of days.",
  'domain/concurrency/expired-rows.ts': 'Deletes expired rows.',
  'domain/erasure/erase-orphaned-accounts.ts': 'Erases accounts that belong to no organization any more.',
  'domain/events/delete-expired-events.ts': 'Deletes the oldest events, and moves the beginning of the feed.',
  'domain/invites/delete-expired-emails.ts': 'Deletes mails of invites that ended long ago.',
  'domain/invites/expire-due-invites.ts':
    'Finds the organizations that have due invites, and locks these before it changes them.',
  'domain/open-links/queue-registrations.ts': 'Finds the organizations with waiting registrations.',
  'domain/single-sign-on/check-sign-in-domains.ts': 'Checks the DNS records of all verified domains.',
  'domain/submissions/grading/queue-digests.ts': 'Finds members whose digest is due.',
  'domain/submissions/media/delete-expired-media.ts': 'Finds submissions with media to delete, and plans their next check.',
  'domain/submissions/media/remove-files.ts': 'Removes the files of deleted media.',
  'domain/submissions/media/settle-recordings.ts': 'Finds recordings that nobody continues.',
  'domain/submissions/taking/complete-due-submissions.ts': 'Finds submissions whose time is over.',
  'domain/submissions/taking/end-submissions-of-closed-invites.ts': 'Ends submissions whose invite has ended.',
  'domain/submissions/taking/open-missing-submissions.ts': 'Finds started invites without a submission.',
  'domain/submissions/transcripts/queue-transcripts.ts': 'Finds submissions with recordings to transcribe.',
  'domain/webhooks/delete-expired-deliveries.ts': 'Deletes expired deliveries, and deleted endpoints without deliveries.',

  // The import reads a document of several organizations, and checks whether its ids are taken anywhere.
  'import/accounts.ts': 'Checks accounts that several organizations share.',
  'import/languages.ts': 'Reads languages, which all organizations share, on the connection of the import.',
  'import/links.ts': 'Reads and replaces lists by the ids of their owners.',
  'import/match.ts': 'Finds existing rows by ids that any organization may have.',
  'import/write.ts': 'Changes rows by their ids.',
  'transfer/import-rows.ts': 'Adds languages, which all organizations share.',
}
