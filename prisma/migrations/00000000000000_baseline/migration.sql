-- The schema of release 1.0. Until 1.0.0 is tagged, edit this file in place. After that it never changes: add a migration.
-- First what schema.prisma describes, by area. From "Written by hand" on, what it can't express.

-- Organizations -------------------------------------------------------------------------------------------------------

CREATE TYPE "tier" AS ENUM ('standard', 'enterprise');

CREATE TABLE "organizations" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "tier" "tier" NOT NULL DEFAULT 'standard',
    "mails_per_day" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "sender_name" TEXT,
    "reply_to" TEXT,
    "invitation_text" TEXT,
    "return_hosts" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "language" TEXT NOT NULL DEFAULT 'en',
    "languages_offered" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "time_zone" TEXT NOT NULL DEFAULT 'UTC',
    "week_days_off" SMALLINT[] NOT NULL DEFAULT ARRAY[(6)::smallint, (7)::smallint],
    "owner_named_at" TIMESTAMPTZ(3),
    "main_template_language" TEXT,
    "candidate_mails" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "bounces_reviewed_at" TIMESTAMPTZ(3),
    "primary_color" TEXT,
    "background_color" TEXT,
    "logo_hash" TEXT,
    "logo_width" INTEGER,
    "logo_height" INTEGER,
    "page_links" JSONB,
    "transcription_host" TEXT,
    "note_categories" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "decision_names" JSONB,
    "shares_results" BOOLEAN NOT NULL DEFAULT false,
    "selection_rates" BOOLEAN NOT NULL DEFAULT false,
    "feed_begins_at" BIGINT,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "organizations_name_key" ON "organizations" ("name_key");

CREATE TABLE "organization_security" (
    "organization_id" UUID NOT NULL,
    "sso_enforced_at" TIMESTAMPTZ(3),
    "second_factor_from" TIMESTAMPTZ(3),
    "trusted_device_days" INTEGER NOT NULL DEFAULT 30,
    "idle_minutes" INTEGER NOT NULL DEFAULT 720,
    "session_hours" INTEGER NOT NULL DEFAULT 720,
    "sso_session_hours" INTEGER NOT NULL DEFAULT 12,
    "networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "api_key_networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "api_key_max_days" INTEGER,
    "audit_retention_days" INTEGER NOT NULL DEFAULT 365,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organization_security_pkey" PRIMARY KEY ("organization_id")
);

CREATE TABLE "organization_retention" (
    "organization_id" UUID NOT NULL,
    "completed_days" INTEGER,
    "expired_days" INTEGER,
    "revoked_days" INTEGER,
    "begins_at" TIMESTAMPTZ(3) NOT NULL,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organization_retention_pkey" PRIMARY KEY ("organization_id")
);
CREATE INDEX "organization_retention_next_at_idx" ON "organization_retention" ("next_at");

CREATE TABLE "organization_suspensions" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL DEFAULT 'erasure',
    "erases_at" TIMESTAMPTZ(3),
    "moved_to" TEXT,
    "exported_id" UUID,
    "reminded_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "counts" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "organization_suspensions_pkey" PRIMARY KEY ("organization_id")
);
CREATE UNIQUE INDEX "organization_suspensions_id_key" ON "organization_suspensions" ("id");

CREATE TABLE "ownership_offers" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "from_member_id" UUID NOT NULL,
    "to_member_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "ownership_offers_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "ownership_offers_to_idx" ON "ownership_offers" ("organization_id", "to_member_id");
CREATE INDEX "ownership_offers_from_idx" ON "ownership_offers" ("organization_id", "from_member_id");

-- API keys ------------------------------------------------------------------------------------------------------------

CREATE TYPE "key_mode" AS ENUM ('live', 'test');

CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "mode" "key_mode" NOT NULL,
    "hash" BYTEA NOT NULL,
    "last_four" TEXT NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_from" TEXT,
    "rights" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "has_restricted_hash" BOOLEAN NOT NULL DEFAULT false,
    "requests_per_minute" INTEGER,
    "previous_hash" BYTEA,
    "previous_expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys" ("hash");
CREATE UNIQUE INDEX "api_keys_previous_hash_key" ON "api_keys" ("previous_hash");
CREATE UNIQUE INDEX "api_keys_organization_id_key" ON "api_keys" ("organization_id", "id");
CREATE UNIQUE INDEX "api_keys_name_key" ON "api_keys" ("organization_id", "name");

CREATE TABLE "idempotency_records" (
    "organization_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "status" INTEGER,
    "body" TEXT,
    "encrypted_for" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("organization_id","key")
);
CREATE INDEX "idempotency_records_created_at_idx" ON "idempotency_records" ("created_at");

-- Accounts and members ------------------------------------------------------------------------------------------------

CREATE TYPE "member_status" AS ENUM ('active', 'inactive');

CREATE TYPE "account_link_kind" AS ENUM ('join', 'reset');

CREATE TYPE "email_state" AS ENUM ('queued', 'sent', 'captured', 'failed');

CREATE TYPE "email_failure" AS ENUM ('obsolete', 'refused', 'given_up', 'suppressed');

CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "first_name" TEXT NOT NULL,
    "last_name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "first_name_key" TEXT NOT NULL,
    "last_name_key" TEXT NOT NULL,
    "search_key" TEXT NOT NULL,
    "avatar_url" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "orphaned_since" TIMESTAMPTZ(3),
    "needs_orphan_check" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "users_id_email_key" ON "users" ("id", "email");

CREATE TABLE "members" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "roles" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "portal_roles" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "status" "member_status" NOT NULL DEFAULT 'active',
    "department" TEXT NOT NULL DEFAULT '',
    "can_view_transcription" BOOLEAN NOT NULL DEFAULT false,
    "joined_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "credential_id" UUID,
    "active_since" TIMESTAMPTZ(3),
    "invited_by_id" UUID,
    "sign_in_exception" TEXT,
    "time_zone" TEXT,
    "page_size" INTEGER,
    "notices" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "erased_at" TIMESTAMPTZ(3),

    CONSTRAINT "members_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "members_joined_at_idx" ON "members" ("organization_id", "joined_at", "id");
CREATE INDEX "members_email_idx" ON "members" ("organization_id", "email", "id");
CREATE INDEX "members_created_at_idx" ON "members" ("organization_id", "created_at", "id");
CREATE INDEX "members_user_idx" ON "members" ("user_id", "email");
CREATE INDEX "members_credential_idx" ON "members" ("credential_id");
CREATE UNIQUE INDEX "members_organization_id_key" ON "members" ("organization_id", "id");

CREATE TABLE "member_tags" (
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "member_tags_pkey" PRIMARY KEY ("organization_id","member_id","tag_id")
);
CREATE INDEX "member_tags_tag_idx" ON "member_tags" ("organization_id", "tag_id");

CREATE TABLE "member_grading_languages" (
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "language_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "member_grading_languages_pkey" PRIMARY KEY ("organization_id","member_id","language_id")
);
CREATE INDEX "member_grading_languages_language_idx" ON "member_grading_languages" ("language_id");

CREATE TABLE "account_links" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "kind" "account_link_kind" NOT NULL,
    "credential_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "account_links_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "account_links_member_idx" ON "account_links" ("organization_id", "member_id");
CREATE INDEX "account_links_credential_idx" ON "account_links" ("credential_id");
CREATE INDEX "account_links_expires_at_idx" ON "account_links" ("expires_at");
CREATE UNIQUE INDEX "account_links_organization_id_key" ON "account_links" ("organization_id", "id");

CREATE TABLE "member_emails" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "link_id" UUID,
    "webhook_id" UUID,
    "dedupe_key" TEXT,
    "facts" JSONB,
    "state" "email_state" NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failure" "email_failure",
    "reason" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "member_emails_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "member_emails_member_idx" ON "member_emails" ("organization_id", "member_id");
CREATE INDEX "member_emails_link_idx" ON "member_emails" ("organization_id", "link_id");
CREATE INDEX "member_emails_webhook_idx" ON "member_emails" ("organization_id", "webhook_id");
CREATE INDEX "member_emails_created_at_idx" ON "member_emails" ("created_at");
CREATE UNIQUE INDEX "member_emails_organization_id_key" ON "member_emails" ("organization_id", "id");

-- Sign-in -------------------------------------------------------------------------------------------------------------

CREATE TYPE "second_factor_kind" AS ENUM ('totp', 'passkey');

CREATE TABLE "credentials" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "password_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "language" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "auth_version" INTEGER NOT NULL DEFAULT 0,
    "email_verified_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "orphaned_since" TIMESTAMPTZ(3),
    "needs_orphan_check" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "credentials_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "second_factors" (
    "id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "kind" "second_factor_kind" NOT NULL,
    "name" TEXT NOT NULL,
    "encrypted_secret" BYTEA,
    "webauthn_id" TEXT,
    "public_key" BYTEA,
    "counter" BIGINT,
    "transports" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "is_synced" BOOLEAN NOT NULL DEFAULT false,
    "rp_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "second_factors_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "second_factors_credential_idx" ON "second_factors" ("credential_id");
CREATE UNIQUE INDEX "second_factors_webauthn_id_key" ON "second_factors" ("webauthn_id");

CREATE TABLE "recovery_codes" (
    "hash" BYTEA NOT NULL,
    "credential_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "recovery_codes_credential_idx" ON "recovery_codes" ("credential_id");

CREATE TABLE "sessions" (
    "id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "credential_id" UUID NOT NULL,
    "user_agent" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "auth_version" INTEGER NOT NULL DEFAULT 0,
    "device_id" UUID,
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" TEXT,
    "closed_organization_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "sessions_credential_idx" ON "sessions" ("credential_id");
CREATE INDEX "sessions_expires_at_idx" ON "sessions" ("expires_at");
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions" ("token_hash");

CREATE TABLE "session_authentications" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "provider_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "idp_sid" TEXT,
    "amr" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "acr" TEXT,
    "auth_time" TIMESTAMPTZ(3),

    CONSTRAINT "session_authentications_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "session_authentications_idp_sid_idx" ON "session_authentications" ("provider_id", "idp_sid");

CREATE TABLE "devices" (
    "id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "auth_version" INTEGER NOT NULL DEFAULT 0,
    "user_agent" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "trusted_until" TIMESTAMPTZ(3),

    CONSTRAINT "devices_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "devices_credential_idx" ON "devices" ("credential_id", "last_seen_at", "id");
CREATE INDEX "devices_last_seen_at_idx" ON "devices" ("last_seen_at");
CREATE UNIQUE INDEX "devices_token_key" ON "devices" ("token_hash", "credential_id");

CREATE TABLE "saved_forms" (
    "id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "saved_forms_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "saved_forms_credential_idx" ON "saved_forms" ("credential_id", "created_at", "id");
CREATE INDEX "saved_forms_expires_at_idx" ON "saved_forms" ("expires_at");

CREATE TABLE "used_tokens" (
    "key" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "used_tokens_pkey" PRIMARY KEY ("key")
);
CREATE INDEX "used_tokens_expires_at_idx" ON "used_tokens" ("expires_at");

CREATE TABLE "sign_in_providers" (
    "id" UUID NOT NULL,
    "organization_id" UUID,
    "name" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "client_auth" TEXT NOT NULL,
    "encrypted_client_secret" BYTEA NOT NULL,
    "encrypted_draft" BYTEA,
    "secret_expires_at" TIMESTAMPTZ(3),
    "required_claims" JSONB NOT NULL DEFAULT '{}',
    "provisions_members" BOOLEAN NOT NULL DEFAULT false,
    "default_roles" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "second_factor" TEXT NOT NULL DEFAULT 'ours',
    "acr_values" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "tested_at" TIMESTAMPTZ(3),
    "tested_by_id" UUID,
    "tested_session" UUID,
    "tested_settings_hash" BYTEA,
    "sends_auth_time" BOOLEAN NOT NULL DEFAULT false,
    "logs_out_at_provider" BOOLEAN NOT NULL DEFAULT false,
    "relink_until" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "last_error_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_providers_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "sign_in_providers_organization_id_key" ON "sign_in_providers" ("organization_id", "id");

CREATE TABLE "sign_in_domains" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "domain" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "verified_at" TIMESTAMPTZ(3),
    "checked_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_domains_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE UNIQUE INDEX "sign_in_domains_domain_key" ON "sign_in_domains" ("organization_id", "domain");

CREATE TABLE "identities" (
    "id" UUID NOT NULL,
    "provider_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "credential_id" UUID NOT NULL,
    "organization_id" UUID,
    "member_id" UUID,
    "last_email" TEXT,
    "linked_by" TEXT NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "identities_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "identities_provider_idx" ON "identities" ("organization_id", "provider_id");
CREATE INDEX "identities_credential_idx" ON "identities" ("credential_id");
CREATE INDEX "identities_member_idx" ON "identities" ("organization_id", "member_id");
CREATE UNIQUE INDEX "identities_organization_id_key" ON "identities" ("organization_id", "id");
CREATE UNIQUE INDEX "identities_subject_key" ON "identities" ("provider_id", "issuer", "subject");

CREATE TABLE "sign_in_attempts" (
    "key" BYTEA NOT NULL,
    "count" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_attempts_pkey" PRIMARY KEY ("key")
);
CREATE INDEX "sign_in_attempts_expires_at_idx" ON "sign_in_attempts" ("expires_at");

-- Audit log -----------------------------------------------------------------------------------------------------------

CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "action" TEXT NOT NULL,
    "target_kind" TEXT,
    "target_id" UUID,
    "details" JSONB NOT NULL DEFAULT '{}',
    "bulk_change_id" UUID,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "address" TEXT,
    "user_agent" TEXT,
    "session_id" UUID,
    "request_id" TEXT,
    "position" BIGINT,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "audit_entries_at_idx" ON "audit_entries" ("organization_id", "at", "id");
CREATE INDEX "audit_entries_actor_idx" ON "audit_entries" ("organization_id", "actor_id", "at", "id");
CREATE INDEX "audit_entries_action_idx" ON "audit_entries" ("organization_id", "action", "at", "id");
CREATE INDEX "audit_entries_mode_idx" ON "audit_entries" ("organization_id", "mode", "at", "id");
CREATE INDEX "audit_entries_bulk_change_idx" ON "audit_entries" ("organization_id", "bulk_change_id", "at", "id");
CREATE UNIQUE INDEX "audit_entries_organization_id_key" ON "audit_entries" ("organization_id", "id");
CREATE UNIQUE INDEX "audit_entries_position_key" ON "audit_entries" ("organization_id", "position");

CREATE TABLE "audit_sequence" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,
    "database" TEXT,

    CONSTRAINT "audit_sequence_pkey" PRIMARY KEY ("id")
);

-- Assessments and questions -------------------------------------------------------------------------------------------

CREATE TYPE "media_format" AS ENUM ('text', 'audio', 'video', 'mixed');

CREATE TYPE "audience" AS ENUM ('invite_only', 'public');

CREATE TABLE "languages" (
    "id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "name" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "languages_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "languages_code_key" ON "languages" ("code");

CREATE TABLE "categories" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "categories_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "categories_organization_id_key" ON "categories" ("organization_id", "id");
CREATE UNIQUE INDEX "categories_name_key" ON "categories" ("organization_id", "name");

CREATE TABLE "instructions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "title" TEXT NOT NULL DEFAULT '',
    "body" TEXT NOT NULL,

    CONSTRAINT "instructions_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "instructions_organization_id_key" ON "instructions" ("organization_id", "id");

CREATE TABLE "tags" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "name_search" TEXT NOT NULL,
    "color" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "icon" TEXT,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tags_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "tags_name_idx" ON "tags" ("organization_id", "name", "id");
CREATE INDEX "tags_created_at_idx" ON "tags" ("organization_id", "created_at", "id");
CREATE INDEX "tags_updated_at_idx" ON "tags" ("organization_id", "updated_at", "id");
CREATE INDEX "tags_created_by_idx" ON "tags" ("organization_id", "created_by_id", "created_at", "id");
CREATE UNIQUE INDEX "tags_organization_id_key" ON "tags" ("organization_id", "id");
CREATE UNIQUE INDEX "tags_name_key" ON "tags" ("organization_id", "name_key");

CREATE TABLE "assessments" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "name_search" TEXT NOT NULL,
    "default_question_format" "media_format" NOT NULL DEFAULT 'text',
    "default_answer_format" "media_format" NOT NULL DEFAULT 'text',
    "audience" "audience" NOT NULL DEFAULT 'invite_only',
    "time_limit" INTEGER NOT NULL DEFAULT 0,
    "skill_types" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "instruction_id" UUID,
    "created_by_id" UUID,
    "question_count" INTEGER NOT NULL DEFAULT 0,
    "total_points" INTEGER NOT NULL DEFAULT 0,
    "undrawn_points" INTEGER NOT NULL DEFAULT 0,
    "second_grader" BOOLEAN NOT NULL DEFAULT false,
    "third_grader" BOOLEAN NOT NULL DEFAULT false,
    "assigns_graders" BOOLEAN NOT NULL DEFAULT false,
    "blind_grading" BOOLEAN NOT NULL DEFAULT false,
    "screen_recording" BOOLEAN NOT NULL DEFAULT false,
    "webcam_monitoring" BOOLEAN NOT NULL DEFAULT false,
    "require_id_capture" BOOLEAN NOT NULL DEFAULT false,
    "face_photo_required" BOOLEAN NOT NULL DEFAULT false,
    "penalty_percent" SMALLINT NOT NULL DEFAULT 0,
    "practice" BOOLEAN NOT NULL DEFAULT false,
    "interface_language" TEXT,
    "submitted_mail" BOOLEAN,
    "released_mail" BOOLEAN,
    "auto_release_by_id" UUID,
    "auto_release_to_candidate" BOOLEAN NOT NULL DEFAULT false,
    "bands" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "client_sees" TEXT[] NOT NULL DEFAULT ARRAY['names']::TEXT[],
    "archived_at" TIMESTAMPTZ(3),
    "is_template" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "assessments_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "assessments_created_at_idx" ON "assessments" ("organization_id", "created_at", "id");
CREATE INDEX "assessments_updated_at_idx" ON "assessments" ("organization_id", "updated_at", "id");
CREATE INDEX "assessments_name_idx" ON "assessments" ("organization_id", "name", "id");
CREATE INDEX "assessments_name_key_idx" ON "assessments" ("organization_id", "name_key");
CREATE INDEX "assessments_template_idx" ON "assessments" ("organization_id", "is_template", "name_key");
CREATE INDEX "assessments_created_by_idx" ON "assessments" ("organization_id", "created_by_id", "created_at", "id");
CREATE INDEX "assessments_audience_idx" ON "assessments" ("organization_id", "audience", "created_at", "id");
CREATE INDEX "assessments_question_count_idx" ON "assessments" ("organization_id", "question_count", "created_at", "id");
CREATE INDEX "assessments_question_format_idx" ON "assessments" ("organization_id", "default_question_format", "created_at", "id");
CREATE INDEX "assessments_answer_format_idx" ON "assessments" ("organization_id", "default_answer_format", "created_at", "id");
CREATE INDEX "assessments_instruction_idx" ON "assessments" ("organization_id", "instruction_id");
CREATE UNIQUE INDEX "assessments_organization_id_key" ON "assessments" ("organization_id", "id");

CREATE TABLE "assessment_languages" (
    "assessment_id" UUID NOT NULL,
    "language_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_languages_pkey" PRIMARY KEY ("organization_id","assessment_id","language_id")
);
CREATE INDEX "assessment_languages_language_idx" ON "assessment_languages" ("language_id");

CREATE TABLE "assessment_categories" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "category_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_categories_pkey" PRIMARY KEY ("organization_id","assessment_id","category_id")
);
CREATE INDEX "assessment_categories_category_idx" ON "assessment_categories" ("organization_id", "category_id");

CREATE TABLE "assessment_clients" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_clients_pkey" PRIMARY KEY ("organization_id","assessment_id","member_id")
);
CREATE INDEX "assessment_clients_member_idx" ON "assessment_clients" ("organization_id", "member_id");

CREATE TABLE "assessment_tags" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "assessment_tags_pkey" PRIMARY KEY ("organization_id","assessment_id","tag_id")
);
CREATE INDEX "assessment_tags_tag_idx" ON "assessment_tags" ("organization_id", "tag_id");

CREATE TABLE "assessment_sections" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "order" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "intro" TEXT NOT NULL DEFAULT '',
    "time_limit" INTEGER NOT NULL DEFAULT 0,
    "navigation" TEXT NOT NULL DEFAULT 'forward',
    "shuffle" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "assessment_sections_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "assessment_sections_order_idx" ON "assessment_sections" ("organization_id", "assessment_id", "order", "id");

CREATE TABLE "assessment_pools" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "draw" INTEGER NOT NULL,
    "points" INTEGER NOT NULL,

    CONSTRAINT "assessment_pools_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "assessment_pools_assessment_idx" ON "assessment_pools" ("organization_id", "assessment_id");

CREATE TABLE "questions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "order" INTEGER NOT NULL,
    "input_type" TEXT NOT NULL,
    "script" TEXT NOT NULL DEFAULT '',
    "script_format" TEXT NOT NULL DEFAULT 'plain',
    "audio_url" TEXT NOT NULL DEFAULT '',
    "video_url" TEXT NOT NULL DEFAULT '',
    "response_type" TEXT NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "time_limit" INTEGER NOT NULL DEFAULT 0,
    "preparation_time" INTEGER NOT NULL DEFAULT 0,
    "required_percent" SMALLINT,
    "simultaneous" BOOLEAN NOT NULL DEFAULT false,
    "source_language" TEXT,
    "target_language" TEXT,
    "version_id" UUID,
    "library_question_id" UUID,
    "library_number" INTEGER,
    "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "rubric" JSONB,
    "section_id" UUID,
    "pool_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "questions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "questions_order_idx" ON "questions" ("organization_id", "assessment_id", "order", "id");
CREATE INDEX "questions_created_at_idx" ON "questions" ("organization_id", "assessment_id", "created_at", "id");
CREATE INDEX "questions_points_idx" ON "questions" ("organization_id", "assessment_id", "points", "id");
CREATE INDEX "questions_version_idx" ON "questions" ("organization_id", "version_id");
CREATE INDEX "questions_library_idx" ON "questions" ("organization_id", "library_question_id");
CREATE INDEX "questions_section_idx" ON "questions" ("organization_id", "section_id");
CREATE INDEX "questions_pool_idx" ON "questions" ("organization_id", "pool_id");
CREATE UNIQUE INDEX "questions_organization_id_key" ON "questions" ("organization_id", "id");

CREATE TABLE "question_versions" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "response_type" TEXT NOT NULL,
    "spec" JSONB NOT NULL,
    "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "locked_at" TIMESTAMPTZ(3),
    "replaces_id" UUID,

    CONSTRAINT "question_versions_pkey" PRIMARY KEY ("organization_id","id")
);

CREATE TABLE "answer_keys" (
    "organization_id" UUID NOT NULL,
    "version_id" UUID NOT NULL,
    "number" SMALLINT NOT NULL,
    "key" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "effect" TEXT NOT NULL DEFAULT 'key',
    "reason" TEXT NOT NULL DEFAULT '',
    "created_by_id" UUID,
    "releases" TEXT,
    "applied_at" TIMESTAMPTZ(3),
    "progress" JSONB,

    CONSTRAINT "answer_keys_pkey" PRIMARY KEY ("organization_id","version_id","number")
);

-- Question library ----------------------------------------------------------------------------------------------------

CREATE TABLE "library_categories" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "path" TEXT NOT NULL,

    CONSTRAINT "library_categories_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE UNIQUE INDEX "library_categories_path_key" ON "library_categories" ("organization_id", "path");

CREATE TABLE "library_questions" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "name_words" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "category_id" UUID,
    "response_type" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "created_by_id" UUID,
    "import_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "library_questions_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "library_questions_category_idx" ON "library_questions" ("organization_id", "category_id", "id");
CREATE INDEX "library_questions_response_type_idx" ON "library_questions" ("organization_id", "response_type", "id");
CREATE INDEX "library_questions_uses_idx" ON "library_questions" ("organization_id", "uses", "id");
CREATE INDEX "library_questions_retired_at_idx" ON "library_questions" ("organization_id", "retired_at", "id");
CREATE INDEX "library_questions_created_by_idx" ON "library_questions" ("organization_id", "created_by_id");
CREATE INDEX "library_questions_import_idx" ON "library_questions" ("organization_id", "import_id");

CREATE TABLE "library_versions" (
    "organization_id" UUID NOT NULL,
    "library_question_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "content" JSONB NOT NULL,
    "version_id" UUID,
    "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "content_hash" BYTEA NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "library_versions_pkey" PRIMARY KEY ("organization_id","library_question_id","number")
);
CREATE INDEX "library_versions_version_idx" ON "library_versions" ("organization_id", "version_id");
CREATE UNIQUE INDEX "library_versions_content_key" ON "library_versions" ("organization_id", "content_hash");

CREATE TABLE "import_files" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "kind" TEXT NOT NULL,
    "file_name" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "choices" JSONB NOT NULL DEFAULT '{}',
    "form" TEXT NOT NULL DEFAULT '',
    "created_by_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "import_files_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "import_files_created_by_idx" ON "import_files" ("organization_id", "created_by_id");
CREATE INDEX "import_files_created_at_idx" ON "import_files" ("created_at");

CREATE TABLE "import_mappings" (
    "organization_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "heading" TEXT NOT NULL,
    "meaning" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "import_mappings_pkey" PRIMARY KEY ("organization_id","kind","heading")
);

CREATE TABLE "library_imports" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "file_name" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "created_by_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "reverted_at" TIMESTAMPTZ(3),
    "unused_columns" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "is_loading" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "library_imports_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "library_imports_created_by_idx" ON "library_imports" ("organization_id", "created_by_id");

CREATE TABLE "library_import_rows" (
    "organization_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "category" TEXT NOT NULL,
    "question" JSONB,
    "content_hash" BYTEA,
    "notes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "library_question_id" UUID,

    CONSTRAINT "library_import_rows_pkey" PRIMARY KEY ("organization_id","import_id","number")
);
CREATE INDEX "library_import_rows_state_idx" ON "library_import_rows" ("organization_id", "import_id", "state", "number");

-- Pictures and media of questions -------------------------------------------------------------------------------------

CREATE TABLE "assets" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "content_type" TEXT NOT NULL DEFAULT '',
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "sha256" BYTEA,
    "width" INTEGER,
    "height" INTEGER,
    "milliseconds" INTEGER,
    "declared_parts" INTEGER[] NOT NULL DEFAULT ARRAY[]::INTEGER[],
    "failed_joins" INTEGER NOT NULL DEFAULT 0,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "checked_at" TIMESTAMPTZ(3) NOT NULL,
    "unused_since" TIMESTAMPTZ(3),

    CONSTRAINT "assets_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "assets_sha256_idx" ON "assets" ("organization_id", "sha256");
CREATE INDEX "assets_created_by_idx" ON "assets" ("organization_id", "created_by_id");
CREATE INDEX "assets_checked_at_idx" ON "assets" ("checked_at");
CREATE UNIQUE INDEX "assets_key_key" ON "assets" ("key");

CREATE TABLE "asset_parts" (
    "organization_id" UUID NOT NULL,
    "asset_id" UUID NOT NULL,
    "segment" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "asset_parts_pkey" PRIMARY KEY ("organization_id","asset_id","segment","number")
);

CREATE TABLE "captions" (
    "organization_id" UUID NOT NULL,
    "asset_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "problem" TEXT,
    "language" TEXT NOT NULL DEFAULT '',
    "model" TEXT NOT NULL DEFAULT '',
    "faults" SMALLINT NOT NULL DEFAULT 0,
    "segments" JSONB NOT NULL DEFAULT '[]',
    "changed_at" TIMESTAMPTZ(3),
    "published_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "captions_pkey" PRIMARY KEY ("organization_id","asset_id")
);

-- Invites -------------------------------------------------------------------------------------------------------------

CREATE TYPE "invite_status" AS ENUM ('accepted', 'completed', 'expired', 'pending', 'revoked', 'started');

CREATE TYPE "invite_source" AS ENUM ('api', 'portal', 'import', 'ats', 'open');

CREATE TYPE "invite_batch_row_state" AS ENUM ('ready', 'invited', 'already', 'repeated', 'invalid', 'refused');

CREATE TYPE "bulk_action" AS ENUM ('resend', 'extend', 'tag', 'assign', 'revoke', 'reactivate', 'name', 'erase', 'decide');

CREATE TYPE "bulk_row_state" AS ENUM ('ready', 'done', 'invalid', 'refused');

CREATE TABLE "invites" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "recipient_email" TEXT NOT NULL,
    "recipient_name" TEXT,
    "recipient_name_search" TEXT,
    "status" "invite_status" NOT NULL,
    "question_replay_limit" INTEGER NOT NULL,
    "answer_record_limit" INTEGER NOT NULL,
    "screen_recording" BOOLEAN NOT NULL,
    "webcam_monitoring" BOOLEAN NOT NULL,
    "require_id_capture" BOOLEAN NOT NULL,
    "face_photo_required" BOOLEAN NOT NULL,
    "custom_message" TEXT NOT NULL DEFAULT '',
    "external_id" TEXT,
    "metadata" JSONB,
    "return_url" TEXT,
    "language" TEXT,
    "chosen_language" TEXT,
    "time_zone" TEXT,
    "reminders_off" BOOLEAN NOT NULL DEFAULT false,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "source" "invite_source" NOT NULL DEFAULT 'api',
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "extra_time_percent" SMALLINT NOT NULL DEFAULT 0,
    "link_version" INTEGER NOT NULL DEFAULT 1,
    "assessment_session" UUID,
    "waived_checks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "assigned_grader_id" UUID,
    "created_by_id" UUID,
    "created_by_key_id" UUID,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "declined_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invites_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "invites_sent_at_idx" ON "invites" ("organization_id", "mode", "sent_at", "id");
CREATE INDEX "invites_status_idx" ON "invites" ("organization_id", "mode", "status", "id");
CREATE INDEX "invites_expires_at_idx" ON "invites" ("organization_id", "mode", "expires_at", "id");
CREATE INDEX "invites_created_at_idx" ON "invites" ("organization_id", "mode", "created_at", "id");
CREATE INDEX "invites_updated_at_idx" ON "invites" ("organization_id", "mode", "updated_at", "id");
CREATE INDEX "invites_assessment_sent_at_idx" ON "invites" ("organization_id", "mode", "assessment_id", "sent_at", "id");
CREATE INDEX "invites_assessment_status_idx" ON "invites" ("organization_id", "mode", "assessment_id", "status", "id");
CREATE INDEX "invites_assessment_created_at_idx" ON "invites" ("organization_id", "mode", "assessment_id", "created_at", "id");
CREATE INDEX "invites_assessment_expires_at_idx" ON "invites" ("organization_id", "mode", "assessment_id", "expires_at", "id");
CREATE INDEX "invites_status_sent_at_idx" ON "invites" ("organization_id", "mode", "status", "sent_at", "id");
CREATE INDEX "invites_status_expires_at_idx" ON "invites" ("organization_id", "mode", "status", "expires_at", "id");
CREATE INDEX "invites_assessment_status_sent_at_idx" ON "invites" ("organization_id", "mode", "assessment_id", "status", "sent_at", "id");
CREATE INDEX "invites_assessment_status_expires_at_idx" ON "invites" ("organization_id", "mode", "assessment_id", "status", "expires_at", "id");
CREATE UNIQUE INDEX "invites_organization_id_key" ON "invites" ("organization_id", "id");

CREATE TABLE "invite_tags" (
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "status" "invite_status",
    "sent_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "invite_tags_pkey" PRIMARY KEY ("organization_id","invite_id","tag_id")
);
CREATE INDEX "invite_tags_sent_at_idx" ON "invite_tags" ("organization_id", "tag_id", "mode", "sent_at", "invite_id");
CREATE INDEX "invite_tags_status_idx" ON "invite_tags" ("organization_id", "tag_id", "mode", "status", "invite_id");
CREATE INDEX "invite_tags_expires_at_idx" ON "invite_tags" ("organization_id", "tag_id", "mode", "expires_at", "invite_id");

CREATE TABLE "open_links" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "token" TEXT NOT NULL,
    "is_on" BOOLEAN NOT NULL DEFAULT false,
    "opens_at" TIMESTAMPTZ(3),
    "closes_at" TIMESTAMPTZ(3),
    "max_invites" INTEGER,
    "email_domains" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "invite_days" INTEGER NOT NULL DEFAULT 30,
    "daily_invites" INTEGER NOT NULL DEFAULT 500,
    "notifies_members" BOOLEAN NOT NULL DEFAULT false,
    "invites_created" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "open_links_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE UNIQUE INDEX "open_links_token_key" ON "open_links" ("token");
CREATE UNIQUE INDEX "open_links_assessment_key" ON "open_links" ("organization_id", "assessment_id", "mode");

CREATE TABLE "open_link_tags" (
    "organization_id" UUID NOT NULL,
    "open_link_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "open_link_tags_pkey" PRIMARY KEY ("organization_id","open_link_id","tag_id")
);
CREATE INDEX "open_link_tags_tag_idx" ON "open_link_tags" ("organization_id", "tag_id");

CREATE TYPE "registration_state" AS ENUM ('waiting', 'queued', 'sent', 'captured', 'failed');

CREATE TABLE "registrations" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "open_link_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "language" TEXT NOT NULL,
    "network" TEXT NOT NULL,
    "proof" TEXT,
    "state" "registration_state" NOT NULL DEFAULT 'waiting',
    "failure" "email_failure",
    "reason" TEXT NOT NULL DEFAULT '',
    "attempts" SMALLINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "queued_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "bounce" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "invite_id" UUID,
    "link_version" INTEGER,

    CONSTRAINT "registrations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "registrations_organization_id_key" ON "registrations" ("organization_id", "id");
CREATE UNIQUE INDEX "registrations_proof_key" ON "registrations" ("organization_id", "proof");
CREATE INDEX "registrations_link_idx" ON "registrations" ("organization_id", "open_link_id");
CREATE INDEX "registrations_invite_idx" ON "registrations" ("organization_id", "invite_id");
CREATE INDEX "registrations_expires_at_idx" ON "registrations" ("expires_at");

CREATE TABLE "open_link_refusals" (
    "organization_id" UUID NOT NULL,
    "open_link_id" UUID NOT NULL,
    "address_hmac" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "open_link_refusals_pkey" PRIMARY KEY ("organization_id","open_link_id","address_hmac")
);

CREATE TABLE "invite_batches" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "created_by_id" UUID,
    "created_by_key_id" UUID,
    "file_name" TEXT NOT NULL DEFAULT '',
    "terms" JSONB NOT NULL,
    "unused_columns" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "stopped_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "is_loading" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "invite_batches_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "invite_batches_assessment_idx" ON "invite_batches" ("organization_id", "assessment_id");
CREATE INDEX "invite_batches_created_by_idx" ON "invite_batches" ("organization_id", "created_by_id");
CREATE INDEX "invite_batches_created_by_key_idx" ON "invite_batches" ("organization_id", "created_by_key_id");
CREATE INDEX "invite_batches_created_at_idx" ON "invite_batches" ("created_at");
CREATE UNIQUE INDEX "invite_batches_organization_id_key" ON "invite_batches" ("organization_id", "id");

CREATE TABLE "invite_batch_rows" (
    "batch_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "state" "invite_batch_row_state" NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "terms" JSONB NOT NULL,
    "issues" JSONB NOT NULL DEFAULT '[]',
    "repeats" INTEGER,
    "invite_id" UUID,

    CONSTRAINT "invite_batch_rows_pkey" PRIMARY KEY ("organization_id","batch_id","number")
);
CREATE INDEX "invite_batch_rows_state_idx" ON "invite_batch_rows" ("organization_id", "batch_id", "state", "number");
CREATE INDEX "invite_batch_rows_invite_idx" ON "invite_batch_rows" ("organization_id", "invite_id");

CREATE TABLE "bulk_changes" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "action" "bulk_action" NOT NULL,
    "params" JSONB NOT NULL,
    "created_by_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "stopped_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "bulk_changes_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "bulk_changes_mode_idx" ON "bulk_changes" ("organization_id", "mode", "id");
CREATE INDEX "bulk_changes_created_by_idx" ON "bulk_changes" ("organization_id", "created_by_id");
CREATE INDEX "bulk_changes_created_at_idx" ON "bulk_changes" ("created_at");
CREATE UNIQUE INDEX "bulk_changes_organization_id_key" ON "bulk_changes" ("organization_id", "id");

CREATE TABLE "bulk_change_rows" (
    "bulk_change_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "state" "bulk_row_state" NOT NULL,
    "issues" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "bulk_change_rows_pkey" PRIMARY KEY ("organization_id","bulk_change_id","number")
);
CREATE INDEX "bulk_change_rows_state_idx" ON "bulk_change_rows" ("organization_id", "bulk_change_id", "state", "number");
CREATE INDEX "bulk_change_rows_invite_idx" ON "bulk_change_rows" ("organization_id", "invite_id");

CREATE TABLE "saved_filters" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "is_shared" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "saved_filters_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "saved_filters_organization_id_key" ON "saved_filters" ("organization_id", "id");
CREATE UNIQUE INDEX "saved_filters_name_key" ON "saved_filters" ("organization_id", "member_id", "name");

CREATE TABLE "organization_invite_counts" (
    "organization_id" UUID NOT NULL,
    "status" "invite_status" NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "slot" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "organization_invite_counts_pkey" PRIMARY KEY ("organization_id","mode","status","slot")
);

CREATE TABLE "organization_daily_invite_counts" (
    "organization_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "slot" SMALLINT NOT NULL,
    "invited" INTEGER NOT NULL DEFAULT 0,
    "completed" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "organization_daily_invite_counts_pkey" PRIMARY KEY ("organization_id","mode","day","slot")
);

CREATE TABLE "assessment_invite_counts" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "status" "invite_status" NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "slot" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "assessment_invite_counts_pkey" PRIMARY KEY ("organization_id","assessment_id","mode","status","slot")
);

CREATE TABLE "tag_invite_counts" (
    "organization_id" UUID NOT NULL,
    "tag_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "slot" SMALLINT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "tag_invite_counts_pkey" PRIMARY KEY ("organization_id","tag_id","mode","slot")
);

-- Mail to candidates --------------------------------------------------------------------------------------------------

CREATE TABLE "invite_emails" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "kind" TEXT NOT NULL DEFAULT 'invitation',
    "dedupe_key" TEXT,
    "language" TEXT,
    "template_id" UUID,
    "link_version" INTEGER NOT NULL,
    "message" TEXT,
    "state" "email_state" NOT NULL DEFAULT 'queued',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "failure" "email_failure",
    "reason" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),
    "delayed_until" TIMESTAMPTZ(3),
    "bounced_at" TIMESTAMPTZ(3),
    "bounce" TEXT,
    "bounce_status" TEXT,
    "bounce_reason" TEXT,
    "complained_at" TIMESTAMPTZ(3),

    CONSTRAINT "invite_emails_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "invite_emails_invite_idx" ON "invite_emails" ("organization_id", "invite_id", "created_at", "id");
CREATE INDEX "invite_emails_state_idx" ON "invite_emails" ("state", "created_at", "id");
CREATE INDEX "invite_emails_sent_at_idx" ON "invite_emails" ("organization_id", "sent_at");
CREATE UNIQUE INDEX "invite_emails_organization_id_key" ON "invite_emails" ("organization_id", "id");

CREATE TABLE "mail_templates" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "language" TEXT NOT NULL,
    "assessment_id" UUID,
    "version" INTEGER NOT NULL,
    "subject" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_templates_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "mail_templates_created_by_idx" ON "mail_templates" ("organization_id", "created_by_id");
CREATE INDEX "mail_templates_assessment_idx" ON "mail_templates" ("organization_id", "assessment_id");

CREATE TABLE "reminder_rules" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "assessment_id" UUID,
    "steps" JSONB NOT NULL,
    "quiet_from" SMALLINT NOT NULL DEFAULT 20,
    "quiet_until" SMALLINT NOT NULL DEFAULT 8,
    "on_days_off" BOOLEAN NOT NULL DEFAULT false,
    "active_since" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reminder_rules_pkey" PRIMARY KEY ("organization_id","id")
);

CREATE TABLE "mail_events" (
    "id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "email_id" UUID,
    "body" BYTEA NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "processed_at" TIMESTAMPTZ(3),

    CONSTRAINT "mail_events_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "mail_events_received_at_idx" ON "mail_events" ("received_at");
CREATE INDEX "mail_events_email_idx" ON "mail_events" ("email_id");
CREATE UNIQUE INDEX "mail_events_provider_event_key" ON "mail_events" ("provider", "event_id");

CREATE TABLE "suppressions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "address" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "scope" TEXT NOT NULL DEFAULT 'all',
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),
    "email_id" UUID,

    CONSTRAINT "suppressions_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE UNIQUE INDEX "suppressions_address_key" ON "suppressions" ("organization_id", "mode", "address", "scope");

CREATE TABLE "mail_outages" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "about" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "probes" INTEGER NOT NULL DEFAULT 0,
    "pause_seconds" INTEGER NOT NULL,
    "next_probe_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_outages_pkey" PRIMARY KEY ("id")
);

-- Submissions ---------------------------------------------------------------------------------------------------------

CREATE TYPE "submission_state" AS ENUM ('preparing', 'in_progress', 'submitted', 'released', 'withdrawn');

CREATE TYPE "answer_attempt_kind" AS ENUM ('text', 'audio', 'video');

CREATE TYPE "answer_attempt_state" AS ENUM ('recording', 'complete', 'abandoned');

CREATE TABLE "consent_texts" (
    "organization_id" UUID NOT NULL,
    "language" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "body" TEXT NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "consent_texts_pkey" PRIMARY KEY ("organization_id","language","version")
);
CREATE INDEX "consent_texts_created_by_idx" ON "consent_texts" ("organization_id", "created_by_id");

CREATE TABLE "submissions" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "state" "submission_state" NOT NULL DEFAULT 'preparing',
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "consent_version" SMALLINT,
    "consent_language" TEXT,
    "consent_text_hash" BYTEA,
    "organization_consent_language" TEXT,
    "organization_consent_version" INTEGER,
    "consent_media" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "consent_at" TIMESTAMPTZ(3),
    "passed_checks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "user_agent" TEXT NOT NULL DEFAULT '',
    "question_replay_limit" INTEGER NOT NULL,
    "answer_record_limit" INTEGER NOT NULL,
    "tab" UUID,
    "previous_tab_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "media_bytes" BIGINT NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3),
    "extra_time_percent" SMALLINT NOT NULL DEFAULT 0,
    "deadline_at" TIMESTAMPTZ(3),
    "is_deadline_of_question" BOOLEAN NOT NULL DEFAULT false,
    "submitted_at" TIMESTAMPTZ(3),
    "grader_id" UUID,
    "second_grader_id" UUID,
    "keeps_one_grader" BOOLEAN NOT NULL DEFAULT false,
    "needs_third_grader" BOOLEAN NOT NULL DEFAULT false,
    "released_at" TIMESTAMPTZ(3),
    "needs_grading" BOOLEAN DEFAULT true,
    "penalty_percent" SMALLINT NOT NULL DEFAULT 0,
    "media_deletion_due_at" TIMESTAMPTZ(3),
    "decision" TEXT NOT NULL DEFAULT 'none',
    "decision_note" TEXT NOT NULL DEFAULT '',
    "decided_by_id" UUID,
    "decided_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "submissions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "submissions_invite_idx" ON "submissions" ("organization_id", "invite_id");
CREATE INDEX "submissions_assessment_idx" ON "submissions" ("organization_id", "assessment_id", "id");
CREATE INDEX "submissions_state_idx" ON "submissions" ("organization_id", "mode", "state", "submitted_at", "id");
CREATE INDEX "submissions_grader_idx" ON "submissions" ("organization_id", "mode", "state", "grader_id", "submitted_at", "id");
CREATE INDEX "submissions_second_grader_idx" ON "submissions" ("organization_id", "mode", "state", "second_grader_id", "submitted_at", "id");
CREATE INDEX "submissions_assessment_state_idx" ON "submissions" ("organization_id", "mode", "assessment_id", "state", "submitted_at", "id");
CREATE INDEX "submissions_started_at_idx" ON "submissions" ("organization_id", "mode", "started_at", "id");
CREATE INDEX "submissions_released_idx" ON "submissions" ("organization_id", "mode", "released_at", "id");
CREATE INDEX "submissions_assessment_released_idx" ON "submissions" ("organization_id", "mode", "assessment_id", "released_at", "id");
CREATE UNIQUE INDEX "submissions_organization_id_key" ON "submissions" ("organization_id", "id");

CREATE TABLE "submission_questions" (
    "submission_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "question_id" UUID NOT NULL,
    "input_type" TEXT NOT NULL,
    "response_type" TEXT NOT NULL,
    "script" TEXT NOT NULL,
    "script_format" TEXT NOT NULL DEFAULT 'plain',
    "audio_url" TEXT NOT NULL,
    "video_url" TEXT NOT NULL,
    "points" INTEGER NOT NULL,
    "time_limit" INTEGER NOT NULL,
    "preparation_time" INTEGER NOT NULL DEFAULT 0,
    "simultaneous" BOOLEAN NOT NULL DEFAULT false,
    "source_language" TEXT,
    "target_language" TEXT,
    "plays" INTEGER NOT NULL DEFAULT 0,
    "play_used_at" TIMESTAMPTZ(3),
    "opened_at" TIMESTAMPTZ(3),
    "answers_at" TIMESTAMPTZ(3),
    "closes_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "version_id" UUID,
    "shown" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "asset_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "rubric" JSONB,
    "section_number" INTEGER,
    "is_marked" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "submission_questions_pkey" PRIMARY KEY ("organization_id","submission_id","number")
);

CREATE TABLE "submission_sections" (
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "intro" TEXT NOT NULL,
    "time_limit" INTEGER NOT NULL,
    "navigation" TEXT NOT NULL,
    "opened_at" TIMESTAMPTZ(3),
    "closes_at" TIMESTAMPTZ(3),
    "current_number" INTEGER,

    CONSTRAINT "submission_sections_pkey" PRIMARY KEY ("organization_id","submission_id","number")
);

CREATE TABLE "answer_attempts" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "kind" "answer_attempt_kind" NOT NULL,
    "state" "answer_attempt_state" NOT NULL,
    "text" TEXT NOT NULL DEFAULT '',
    "value" JSONB,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "media_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "was_interrupted" BOOLEAN NOT NULL DEFAULT false,
    "selected_at" TIMESTAMPTZ(3),
    "interruptions" INTEGER NOT NULL DEFAULT 0,
    "restarted" BOOLEAN NOT NULL DEFAULT false,
    "prompt_timing" JSONB,

    CONSTRAINT "answer_attempts_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "answer_attempts_question_idx" ON "answer_attempts" ("organization_id", "submission_id", "question_number", "created_at", "id");
CREATE INDEX "answer_attempts_media_idx" ON "answer_attempts" ("organization_id", "media_id");
CREATE UNIQUE INDEX "answer_attempts_organization_id_key" ON "answer_attempts" ("organization_id", "id");

CREATE TABLE "session_events" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_events_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "session_events_submission_idx" ON "session_events" ("organization_id", "submission_id", "at", "id");
CREATE UNIQUE INDEX "session_events_organization_id_key" ON "session_events" ("organization_id", "id");

-- Recordings and photos -----------------------------------------------------------------------------------------------

CREATE TYPE "media_kind" AS ENUM ('answer', 'id_photo', 'face_photo', 'webcam_still', 'webcam', 'screen');

CREATE TYPE "media_state" AS ENUM ('uploading', 'joining', 'ready', 'failed', 'deleted');

CREATE TABLE "media_files" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "kind" "media_kind" NOT NULL,
    "state" "media_state" NOT NULL,
    "key" TEXT NOT NULL,
    "content_type" TEXT NOT NULL DEFAULT '',
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "milliseconds" INTEGER,
    "declared_parts" INTEGER[] NOT NULL DEFAULT ARRAY[]::INTEGER[],
    "failed_joins" INTEGER NOT NULL DEFAULT 0,
    "cuts" INTEGER[] NOT NULL DEFAULT ARRAY[]::INTEGER[],
    "segment_ends" INTEGER[] NOT NULL DEFAULT ARRAY[]::INTEGER[],
    "levels" BYTEA,
    "attempt_id" UUID,
    "file_name" TEXT,
    "threat" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "removed_at" TIMESTAMPTZ(3),
    "refused_at" TIMESTAMPTZ(3),

    CONSTRAINT "media_files_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "media_files_submission_idx" ON "media_files" ("organization_id", "submission_id", "kind", "created_at", "id");
CREATE INDEX "media_files_attempt_idx" ON "media_files" ("organization_id", "attempt_id");
CREATE UNIQUE INDEX "media_files_organization_id_key" ON "media_files" ("organization_id", "id");
CREATE UNIQUE INDEX "media_files_key_key" ON "media_files" ("key");

CREATE TABLE "media_file_parts" (
    "media_id" UUID NOT NULL,
    "segment" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "organization_id" UUID NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "media_file_parts_pkey" PRIMARY KEY ("organization_id","media_id","segment","number")
);

CREATE TABLE "transcripts" (
    "media_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "problem" TEXT,
    "language" TEXT NOT NULL DEFAULT '',
    "model" TEXT NOT NULL DEFAULT '',
    "faults" SMALLINT NOT NULL DEFAULT 0,
    "text" TEXT NOT NULL DEFAULT '',
    "segments" JSONB NOT NULL DEFAULT '[]',
    "original" JSONB,
    "corrected_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "transcripts_pkey" PRIMARY KEY ("organization_id","media_id")
);

CREATE TABLE "deleted_media_files" (
    "id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "refused_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_media_files_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "deleted_media_files_deleted_at_idx" ON "deleted_media_files" ("deleted_at");

CREATE TABLE "organization_media_bytes" (
    "organization_id" UUID NOT NULL,
    "slot" SMALLINT NOT NULL,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "organization_media_bytes_pkey" PRIMARY KEY ("organization_id","slot")
);

-- Grading and results -------------------------------------------------------------------------------------------------

CREATE TABLE "question_scores" (
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "key_number" SMALLINT NOT NULL,
    "points" DECIMAL(11,1),
    "parts" JSONB NOT NULL,
    "dropped" BOOLEAN NOT NULL DEFAULT false,
    "outcome" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "question_scores_pkey" PRIMARY KEY ("organization_id","submission_id","question_number","key_number")
);

CREATE TABLE "grades" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "question_id" UUID,
    "grader_id" UUID NOT NULL,
    "round" SMALLINT NOT NULL,
    "points" DECIMAL(11,1),
    "comment" TEXT NOT NULL,
    "levels" SMALLINT[] NOT NULL DEFAULT ARRAY[]::SMALLINT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "grades_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "grades_question_idx" ON "grades" ("organization_id", "submission_id", "question_number", "updated_at", "id");
CREATE INDEX "grades_grader_idx" ON "grades" ("organization_id", "grader_id", "question_id", "created_at", "submission_id", "points");
CREATE UNIQUE INDEX "grades_organization_id_key" ON "grades" ("organization_id", "id");

CREATE TABLE "grading_assignments" (
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "round" SMALLINT NOT NULL,
    "language" TEXT,
    "grader_id" UUID,
    "is_open" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "grading_assignments_pkey" PRIMARY KEY ("organization_id","submission_id","question_number","round")
);
CREATE INDEX "grading_assignments_grader_idx" ON "grading_assignments" ("organization_id", "grader_id", "is_open", "submission_id");
CREATE UNIQUE INDEX "grading_assignments_grader_once_key" ON "grading_assignments" ("organization_id", "submission_id", "question_number", "grader_id");

CREATE TABLE "grading_notes" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "question_number" INTEGER NOT NULL,
    "media_id" UUID NOT NULL,
    "grader_id" UUID NOT NULL,
    "round" SMALLINT NOT NULL,
    "start_ms" INTEGER NOT NULL,
    "end_ms" INTEGER,
    "category" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "points_off" DECIMAL(11,1),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "grading_notes_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "grading_notes_question_idx" ON "grading_notes" ("organization_id", "submission_id", "question_number");
CREATE INDEX "grading_notes_media_idx" ON "grading_notes" ("organization_id", "media_id");
CREATE INDEX "grading_notes_grader_idx" ON "grading_notes" ("organization_id", "grader_id");
CREATE UNIQUE INDEX "grading_notes_organization_id_key" ON "grading_notes" ("organization_id", "id");

CREATE TABLE "grading_viewers" (
    "submission_id" UUID NOT NULL,
    "member_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "grading_viewers_pkey" PRIMARY KEY ("organization_id","submission_id","member_id")
);
CREATE INDEX "grading_viewers_member_idx" ON "grading_viewers" ("organization_id", "member_id");

CREATE TABLE "releases" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "submission_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "released_by_id" UUID NOT NULL,
    "points" DECIMAL(16,1) NOT NULL,
    "of_points" BIGINT NOT NULL,
    "comment" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "to_candidate" BOOLEAN NOT NULL,
    "band" TEXT,
    "knocked_out" INTEGER[] NOT NULL DEFAULT ARRAY[]::INTEGER[],
    "grades" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "releases_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "releases_released_by_idx" ON "releases" ("organization_id", "released_by_id");
CREATE UNIQUE INDEX "releases_organization_id_key" ON "releases" ("organization_id", "id");
CREATE UNIQUE INDEX "releases_version_key" ON "releases" ("organization_id", "submission_id", "version");

CREATE TABLE "share_links" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "assessment_id" UUID NOT NULL,
    "created_by_id" UUID NOT NULL,
    "receiver" TEXT NOT NULL,
    "shows" TEXT[] NOT NULL,
    "asks_feedback" BOOLEAN NOT NULL,
    "has_code" BOOLEAN NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "share_links_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "share_links_organization_id_key" ON "share_links" ("organization_id", "id");
CREATE INDEX "share_links_mode_idx" ON "share_links" ("organization_id", "mode", "id");
CREATE INDEX "share_links_assessment_idx" ON "share_links" ("organization_id", "assessment_id");
CREATE INDEX "share_links_created_by_idx" ON "share_links" ("organization_id", "created_by_id");
CREATE INDEX "share_links_expires_at_idx" ON "share_links" ("expires_at");

CREATE TABLE "shared_results" (
    "organization_id" UUID NOT NULL,
    "share_link_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "submission_id" UUID NOT NULL,
    "vote" TEXT,
    "comment" TEXT NOT NULL DEFAULT '',
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "shared_results_pkey" PRIMARY KEY ("organization_id", "share_link_id", "position")
);
CREATE INDEX "shared_results_submission_idx" ON "shared_results" ("organization_id", "submission_id");

CREATE TABLE "question_results" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL DEFAULT 'live',
    "question_id" UUID NOT NULL,
    "results" INTEGER NOT NULL,
    "points" DECIMAL(20,1) NOT NULL,
    "of_points" BIGINT NOT NULL,

    CONSTRAINT "question_results_pkey" PRIMARY KEY ("organization_id","assessment_id","mode","question_id")
);

-- Events and webhooks -------------------------------------------------------------------------------------------------

CREATE TYPE "webhook_mode" AS ENUM ('live', 'test', 'all');

CREATE TYPE "webhook_state" AS ENUM ('active', 'disabled');

CREATE TYPE "webhook_disabled_reason" AS ENUM ('manual', 'failing', 'gone');

CREATE TYPE "webhook_delivery_state" AS ENUM ('waiting', 'delivered', 'failed');

CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "sequence" BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY,
    "position" BIGINT,
    "type" TEXT NOT NULL,
    "mode" "key_mode" NOT NULL,
    "invite_id" UUID,
    "actor_type" TEXT NOT NULL,
    "actor_id" UUID,
    "tested_type" TEXT,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "events_organization_id_key" ON "events" ("organization_id", "id");

CREATE TABLE "event_sequence" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,
    "deleted_up_to" BIGINT NOT NULL DEFAULT 0,
    "database" TEXT,

    CONSTRAINT "event_sequence_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "missing_event_positions" (
    "after" BIGINT NOT NULL,
    "until" BIGINT NOT NULL,

    CONSTRAINT "missing_event_positions_pkey" PRIMARY KEY ("after")
);

CREATE TABLE "webhook_endpoints" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "types" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "mode" "webhook_mode" NOT NULL,
    "description" TEXT NOT NULL,
    "state" "webhook_state" NOT NULL DEFAULT 'active',
    "state_since" TIMESTAMPTZ(3) NOT NULL,
    "disabled_reason" "webhook_disabled_reason",
    "encrypted_secret" BYTEA NOT NULL,
    "encrypted_previous_secret" BYTEA,
    "previous_secret_until" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "warnings" SMALLINT NOT NULL DEFAULT 0,
    "position" BIGINT NOT NULL,
    "missed_from" BIGINT,
    "replay_position" BIGINT,
    "replay_until" BIGINT,
    "replay_turn_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "webhook_endpoints_organization_id_key" ON "webhook_endpoints" ("organization_id", "id");

CREATE TABLE "webhook_deliveries" (
    "organization_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'waiting',
    "queued_at" TIMESTAMPTZ(3) NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "attempts_before_replay" INTEGER NOT NULL DEFAULT 0,
    "is_replay" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("organization_id","endpoint_id","event_id")
);
CREATE INDEX "webhook_deliveries_endpoint_idx" ON "webhook_deliveries" ("organization_id", "endpoint_id", "queued_at", "event_id");
CREATE INDEX "webhook_deliveries_state_idx" ON "webhook_deliveries" ("organization_id", "endpoint_id", "state", "queued_at", "event_id");

CREATE TABLE "webhook_attempts" (
    "organization_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "milliseconds" INTEGER NOT NULL,
    "status" INTEGER,
    "error" TEXT NOT NULL,
    "answer" TEXT NOT NULL,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("organization_id","endpoint_id","event_id","number")
);

CREATE TABLE "webhook_fanout" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_fanout_pkey" PRIMARY KEY ("id")
);

-- Applicant tracking systems ------------------------------------------------------------------------------------------

CREATE TABLE "ats_connections" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "ats" TEXT NOT NULL,
    "mode" "key_mode" NOT NULL,
    "encrypted_api_key" BYTEA,
    "ats_api_key_last_four" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ats_connections_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "ats_connections_organization_id_key" ON "ats_connections" ("organization_id", "id");
CREATE UNIQUE INDEX "ats_connections_ats_key" ON "ats_connections" ("organization_id", "ats", "mode");

CREATE TABLE "ats_keys" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "last_four" TEXT NOT NULL,
    "encrypted_key" BYTEA NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "ats_keys_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ats_keys_connection_idx" ON "ats_keys" ("organization_id", "connection_id", "created_at", "id");
CREATE UNIQUE INDEX "ats_keys_organization_id_key" ON "ats_keys" ("organization_id", "id");
CREATE UNIQUE INDEX "ats_keys_hash_key" ON "ats_keys" ("hash");

CREATE TABLE "ats_orders" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "natural_key" TEXT NOT NULL,
    "key_id" UUID NOT NULL,
    "invite_id" UUID,
    "callback_url" TEXT,
    "profile_url" TEXT NOT NULL DEFAULT '',
    "after_sequence" BIGINT NOT NULL DEFAULT 0,
    "start_position" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "cancelled_at" TIMESTAMPTZ(3),
    "reported_status" TEXT,
    "reported_at" TIMESTAMPTZ(3),
    "last_error" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "ats_orders_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ats_orders_invite_idx" ON "ats_orders" ("organization_id", "invite_id");
CREATE INDEX "ats_orders_connection_idx" ON "ats_orders" ("organization_id", "connection_id", "created_at", "id");
CREATE INDEX "ats_orders_start_position_idx" ON "ats_orders" ("start_position");
CREATE UNIQUE INDEX "ats_orders_organization_id_key" ON "ats_orders" ("organization_id", "id");

CREATE TABLE "ats_reports" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "order_id" UUID,
    "position" BIGINT NOT NULL,
    "status" TEXT NOT NULL,
    "happened_at" TIMESTAMPTZ(3) NOT NULL,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'waiting',
    "queued_at" TIMESTAMPTZ(3) NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "attempt_count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "ats_reports_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ats_reports_order_idx" ON "ats_reports" ("organization_id", "order_id", "position", "id");
CREATE INDEX "ats_reports_connection_idx" ON "ats_reports" ("organization_id", "connection_id", "queued_at");
CREATE INDEX "ats_reports_queued_at_idx" ON "ats_reports" ("queued_at");
CREATE UNIQUE INDEX "ats_reports_organization_id_key" ON "ats_reports" ("organization_id", "id");

CREATE TABLE "ats_calls" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "order_id" UUID,
    "is_inbound" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "status" INTEGER,
    "error" TEXT NOT NULL,
    "answer" TEXT NOT NULL DEFAULT '',
    "milliseconds" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ats_calls_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ats_calls_connection_idx" ON "ats_calls" ("organization_id", "connection_id", "created_at", "id");
CREATE INDEX "ats_calls_order_idx" ON "ats_calls" ("organization_id", "order_id");
CREATE INDEX "ats_calls_created_at_idx" ON "ats_calls" ("created_at");
CREATE UNIQUE INDEX "ats_calls_organization_id_key" ON "ats_calls" ("organization_id", "id");

CREATE TABLE "ats_fanout" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "ats_fanout_pkey" PRIMARY KEY ("id")
);

-- Open links ----------------------------------------------------------------------------------------------------------

-- Which mails leave next: networks take turns.
CREATE INDEX registrations_waiting_idx ON registrations (organization_id, network, created_at) WHERE state = 'waiting';
-- Mails of the last day, which the limits count.
CREATE INDEX registrations_queued_idx ON registrations (organization_id, queued_at) WHERE queued_at IS NOT NULL;

-- Erasure and exports -------------------------------------------------------------------------------------------------

CREATE TABLE "erasures" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "address_hmac" BYTEA NOT NULL,
    "member_id" UUID,
    "encrypted_address" BYTEA,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "step" TEXT NOT NULL,
    "counts" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "backups_until" TIMESTAMPTZ(3),

    CONSTRAINT "erasures_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "erasures_created_at_idx" ON "erasures" ("organization_id", "created_at", "id");

CREATE TABLE "erased_invites" (
    "organization_id" UUID NOT NULL,
    "invite_id" UUID NOT NULL,
    "erasure_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "related_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],

    CONSTRAINT "erased_invites_pkey" PRIMARY KEY ("organization_id","invite_id")
);
CREATE INDEX "erased_invites_erasure_idx" ON "erased_invites" ("organization_id", "erasure_id", "invite_id");
CREATE INDEX "erased_invites_invite_idx" ON "erased_invites" ("invite_id");

CREATE TABLE "erased_invite_counts" (
    "organization_id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "erased_invite_counts_pkey" PRIMARY KEY ("organization_id","assessment_id","mode")
);

CREATE TABLE "erased_results" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "assessment_id" UUID NOT NULL,
    "mode" "key_mode" NOT NULL,
    "points" DECIMAL(16,1) NOT NULL,
    "of_points" BIGINT NOT NULL,

    CONSTRAINT "erased_results_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "erased_results_assessment_idx" ON "erased_results" ("organization_id", "assessment_id", "mode");

CREATE TABLE "archives" (
    "organization_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "address_hmac" BYTEA,
    "encrypted_address" BYTEA,
    "member_id" UUID,
    "actor_kind" TEXT NOT NULL,
    "actor_id" UUID,
    "key" TEXT,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "fetched_at" TIMESTAMPTZ(3),
    "download_id" UUID,
    "download_leased_until" TIMESTAMPTZ(3),
    "download_started_at" TIMESTAMPTZ(3),
    "download_session_id" UUID,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archives_pkey" PRIMARY KEY ("organization_id","id")
);
CREATE INDEX "archives_created_at_idx" ON "archives" ("organization_id", "created_at", "id");
CREATE INDEX "archives_member_idx" ON "archives" ("organization_id", "member_id");
CREATE INDEX "archives_expires_at_idx" ON "archives" ("expires_at");
CREATE UNIQUE INDEX "archives_key_key" ON "archives" ("key");

-- Service -------------------------------------------------------------------------------------------------------------

CREATE TABLE "secret_fingerprints" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "fingerprint" BYTEA NOT NULL,

    CONSTRAINT "secret_fingerprints_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "sweep_parts" (
    "part" TEXT NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sweep_parts_pkey" PRIMARY KEY ("part")
);

-- Foreign keys --------------------------------------------------------------------------------------------------------

ALTER TABLE "organization_security" ADD CONSTRAINT "organization_security_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "organization_retention" ADD CONSTRAINT "organization_retention_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "organization_suspensions" ADD CONSTRAINT "organization_suspensions_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "ownership_offers" ADD CONSTRAINT "ownership_offers_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "ownership_offers" ADD CONSTRAINT "ownership_offers_from_fkey"
  FOREIGN KEY ("organization_id", "from_member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "ownership_offers" ADD CONSTRAINT "ownership_offers_to_fkey"
  FOREIGN KEY ("organization_id", "to_member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "idempotency_records" ADD CONSTRAINT "idempotency_records_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "members" ADD CONSTRAINT "members_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "members" ADD CONSTRAINT "members_user_fkey"
  FOREIGN KEY ("user_id", "email") REFERENCES "users" ("id", "email") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "members" ADD CONSTRAINT "members_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE SET NULL;
ALTER TABLE "member_tags" ADD CONSTRAINT "member_tags_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "member_tags" ADD CONSTRAINT "member_tags_tag_fkey"
  FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "member_grading_languages" ADD CONSTRAINT "member_grading_languages_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "member_grading_languages" ADD CONSTRAINT "member_grading_languages_language_fkey"
  FOREIGN KEY ("language_id") REFERENCES "languages" ("id");
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE CASCADE;
ALTER TABLE "member_emails" ADD CONSTRAINT "member_emails_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "member_emails" ADD CONSTRAINT "member_emails_link_fkey"
  FOREIGN KEY ("organization_id", "link_id") REFERENCES "account_links" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "member_emails" ADD CONSTRAINT "member_emails_webhook_fkey"
  FOREIGN KEY ("organization_id", "webhook_id") REFERENCES "webhook_endpoints" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE CASCADE;
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE CASCADE;
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE CASCADE;
ALTER TABLE "session_authentications" ADD CONSTRAINT "session_authentications_session_fkey"
  FOREIGN KEY ("session_id") REFERENCES "sessions" ("id") ON DELETE CASCADE;
ALTER TABLE "devices" ADD CONSTRAINT "devices_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE CASCADE;
ALTER TABLE "saved_forms" ADD CONSTRAINT "saved_forms_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE CASCADE;
ALTER TABLE "sign_in_providers" ADD CONSTRAINT "sign_in_providers_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "sign_in_domains" ADD CONSTRAINT "sign_in_domains_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "identities" ADD CONSTRAINT "identities_provider_fkey"
  FOREIGN KEY ("organization_id", "provider_id") REFERENCES "sign_in_providers" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "identities" ADD CONSTRAINT "identities_credential_fkey"
  FOREIGN KEY ("credential_id") REFERENCES "credentials" ("id") ON DELETE CASCADE;
ALTER TABLE "identities" ADD CONSTRAINT "identities_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "categories" ADD CONSTRAINT "categories_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "instructions" ADD CONSTRAINT "instructions_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tags" ADD CONSTRAINT "tags_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tags" ADD CONSTRAINT "tags_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "assessments" ADD CONSTRAINT "assessments_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "assessments" ADD CONSTRAINT "assessments_instruction_fkey"
  FOREIGN KEY ("organization_id", "instruction_id") REFERENCES "instructions" ("organization_id", "id");
ALTER TABLE "assessments" ADD CONSTRAINT "assessments_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "assessments" ADD CONSTRAINT "assessments_auto_release_by_fkey"
  FOREIGN KEY ("organization_id", "auto_release_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "assessment_languages" ADD CONSTRAINT "assessment_languages_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "assessment_languages" ADD CONSTRAINT "assessment_languages_language_fkey"
  FOREIGN KEY ("language_id") REFERENCES "languages" ("id");
ALTER TABLE "assessment_categories" ADD CONSTRAINT "assessment_categories_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "assessment_categories" ADD CONSTRAINT "assessment_categories_category_fkey"
  FOREIGN KEY ("organization_id", "category_id") REFERENCES "categories" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "assessment_clients" ADD CONSTRAINT "assessment_clients_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "assessment_clients" ADD CONSTRAINT "assessment_clients_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "assessment_tags" ADD CONSTRAINT "assessment_tags_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "assessment_tags" ADD CONSTRAINT "assessment_tags_tag_fkey"
  FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "questions" ADD CONSTRAINT "questions_library_fkey"
  FOREIGN KEY ("organization_id", "library_question_id") REFERENCES "library_questions" ("organization_id", "id");
ALTER TABLE "questions" ADD CONSTRAINT "questions_version_fkey"
  FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions" ("organization_id", "id");
ALTER TABLE "assessment_sections" ADD CONSTRAINT "assessment_sections_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "assessment_pools" ADD CONSTRAINT "assessment_pools_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "questions" ADD CONSTRAINT "questions_section_fkey"
  FOREIGN KEY ("organization_id", "section_id") REFERENCES "assessment_sections" ("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "questions" ADD CONSTRAINT "questions_pool_fkey"
  FOREIGN KEY ("organization_id", "pool_id") REFERENCES "assessment_pools" ("organization_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "questions" ADD CONSTRAINT "questions_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "questions" ADD CONSTRAINT "questions_source_language_fkey"
  FOREIGN KEY ("source_language") REFERENCES "languages" ("code") ON UPDATE CASCADE;
ALTER TABLE "questions" ADD CONSTRAINT "questions_target_language_fkey"
  FOREIGN KEY ("target_language") REFERENCES "languages" ("code") ON UPDATE CASCADE;
ALTER TABLE "question_versions" ADD CONSTRAINT "question_versions_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "answer_keys" ADD CONSTRAINT "answer_keys_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "answer_keys" ADD CONSTRAINT "answer_keys_version_fkey"
  FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "library_categories" ADD CONSTRAINT "library_categories_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_category_fkey"
  FOREIGN KEY ("organization_id", "category_id") REFERENCES "library_categories" ("organization_id", "id");
ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "library_questions" ADD CONSTRAINT "library_questions_import_fkey"
  FOREIGN KEY ("organization_id", "import_id") REFERENCES "library_imports" ("organization_id", "id");
ALTER TABLE "library_versions" ADD CONSTRAINT "library_versions_question_fkey"
  FOREIGN KEY ("organization_id", "library_question_id") REFERENCES "library_questions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "library_versions" ADD CONSTRAINT "library_versions_version_fkey"
  FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions" ("organization_id", "id");
ALTER TABLE "import_files" ADD CONSTRAINT "import_files_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "import_files" ADD CONSTRAINT "import_files_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "import_mappings" ADD CONSTRAINT "import_mappings_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "library_imports" ADD CONSTRAINT "library_imports_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "library_imports" ADD CONSTRAINT "library_imports_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "library_import_rows" ADD CONSTRAINT "library_import_rows_import_fkey"
  FOREIGN KEY ("organization_id", "import_id") REFERENCES "library_imports" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "assets" ADD CONSTRAINT "assets_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "assets" ADD CONSTRAINT "assets_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "asset_parts" ADD CONSTRAINT "asset_parts_asset_fkey"
  FOREIGN KEY ("organization_id", "asset_id") REFERENCES "assets" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "captions" ADD CONSTRAINT "captions_asset_fkey"
  FOREIGN KEY ("organization_id", "asset_id") REFERENCES "assets" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "invites" ADD CONSTRAINT "invites_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "invites" ADD CONSTRAINT "invites_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id");
ALTER TABLE "invites" ADD CONSTRAINT "invites_assigned_grader_fkey"
  FOREIGN KEY ("organization_id", "assigned_grader_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "invites" ADD CONSTRAINT "invites_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "invites" ADD CONSTRAINT "invites_created_by_key_fkey"
  FOREIGN KEY ("organization_id", "created_by_key_id") REFERENCES "api_keys" ("organization_id", "id");
ALTER TABLE "invite_tags" ADD CONSTRAINT "invite_tags_invite_fkey"
  FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "invite_tags" ADD CONSTRAINT "invite_tags_tag_fkey"
  FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "open_links" ADD CONSTRAINT "open_links_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "open_link_tags" ADD CONSTRAINT "open_link_tags_link_fkey"
  FOREIGN KEY ("organization_id", "open_link_id") REFERENCES "open_links" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "open_link_tags" ADD CONSTRAINT "open_link_tags_tag_fkey"
  FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_link_fkey"
  FOREIGN KEY ("organization_id", "open_link_id") REFERENCES "open_links" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_invite_fkey"
  FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "open_link_refusals" ADD CONSTRAINT "open_link_refusals_link_fkey"
  FOREIGN KEY ("organization_id", "open_link_id") REFERENCES "open_links" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "invite_batches" ADD CONSTRAINT "invite_batches_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "invite_batches" ADD CONSTRAINT "invite_batches_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "invite_batches" ADD CONSTRAINT "invite_batches_created_by_key_fkey"
  FOREIGN KEY ("organization_id", "created_by_key_id") REFERENCES "api_keys" ("organization_id", "id");
ALTER TABLE "invite_batch_rows" ADD CONSTRAINT "invite_batch_rows_batch_fkey"
  FOREIGN KEY ("organization_id", "batch_id") REFERENCES "invite_batches" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "invite_batch_rows" ADD CONSTRAINT "invite_batch_rows_invite_fkey"
  FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "bulk_changes" ADD CONSTRAINT "bulk_changes_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "bulk_changes" ADD CONSTRAINT "bulk_changes_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "bulk_change_rows" ADD CONSTRAINT "bulk_change_rows_change_fkey"
  FOREIGN KEY ("organization_id", "bulk_change_id") REFERENCES "bulk_changes" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "bulk_change_rows" ADD CONSTRAINT "bulk_change_rows_invite_fkey"
  FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "saved_filters" ADD CONSTRAINT "saved_filters_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "organization_invite_counts" ADD CONSTRAINT "organization_invite_counts_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "organization_daily_invite_counts" ADD CONSTRAINT "organization_daily_invite_counts_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "assessment_invite_counts" ADD CONSTRAINT "assessment_invite_counts_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "tag_invite_counts" ADD CONSTRAINT "tag_invite_counts_tag_fkey"
  FOREIGN KEY ("organization_id", "tag_id") REFERENCES "tags" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "invite_emails" ADD CONSTRAINT "invite_emails_invite_fkey"
  FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "mail_templates" ADD CONSTRAINT "mail_templates_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mail_templates" ADD CONSTRAINT "mail_templates_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "mail_templates" ADD CONSTRAINT "mail_templates_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "reminder_rules" ADD CONSTRAINT "reminder_rules_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "reminder_rules" ADD CONSTRAINT "reminder_rules_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "suppressions" ADD CONSTRAINT "suppressions_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "consent_texts" ADD CONSTRAINT "consent_texts_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "consent_texts" ADD CONSTRAINT "consent_texts_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_invite_fkey"
  FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id");
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_grader_fkey"
  FOREIGN KEY ("organization_id", "grader_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_second_grader_fkey"
  FOREIGN KEY ("organization_id", "second_grader_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_decided_by_fkey"
  FOREIGN KEY ("organization_id", "decided_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "submission_sections" ADD CONSTRAINT "submission_sections_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "submission_questions" ADD CONSTRAINT "submission_questions_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "submission_questions" ADD CONSTRAINT "submission_questions_version_fkey"
  FOREIGN KEY ("organization_id", "version_id") REFERENCES "question_versions" ("organization_id", "id");
ALTER TABLE "answer_attempts" ADD CONSTRAINT "answer_attempts_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "answer_attempts" ADD CONSTRAINT "answer_attempts_question_fkey"
  FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "submission_questions" ("organization_id", "submission_id", "number") ON DELETE CASCADE;
ALTER TABLE "answer_attempts" ADD CONSTRAINT "answer_attempts_media_fkey"
  FOREIGN KEY ("organization_id", "media_id") REFERENCES "media_files" ("organization_id", "id");
ALTER TABLE "session_events" ADD CONSTRAINT "session_events_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "media_files" ADD CONSTRAINT "media_files_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "media_files" ADD CONSTRAINT "media_files_attempt_fkey"
  FOREIGN KEY ("organization_id", "attempt_id") REFERENCES "answer_attempts" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "media_file_parts" ADD CONSTRAINT "media_file_parts_media_fkey"
  FOREIGN KEY ("organization_id", "media_id") REFERENCES "media_files" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "transcripts" ADD CONSTRAINT "transcripts_media_fkey"
  FOREIGN KEY ("organization_id", "media_id") REFERENCES "media_files" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "organization_media_bytes" ADD CONSTRAINT "organization_media_bytes_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "question_scores" ADD CONSTRAINT "question_scores_question_fkey"
  FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "submission_questions" ("organization_id", "submission_id", "number") ON DELETE CASCADE;
ALTER TABLE "grades" ADD CONSTRAINT "grades_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "grades" ADD CONSTRAINT "grades_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "grades" ADD CONSTRAINT "grades_question_fkey"
  FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "submission_questions" ("organization_id", "submission_id", "number") ON DELETE CASCADE;
ALTER TABLE "grades" ADD CONSTRAINT "grades_grader_fkey"
  FOREIGN KEY ("organization_id", "grader_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "grading_assignments" ADD CONSTRAINT "grading_assignments_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "grading_assignments" ADD CONSTRAINT "grading_assignments_question_fkey"
  FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "submission_questions" ("organization_id", "submission_id", "number") ON DELETE CASCADE;
ALTER TABLE "grading_assignments" ADD CONSTRAINT "grading_assignments_grader_fkey"
  FOREIGN KEY ("organization_id", "grader_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "grading_notes" ADD CONSTRAINT "grading_notes_question_fkey"
  FOREIGN KEY ("organization_id", "submission_id", "question_number") REFERENCES "submission_questions" ("organization_id", "submission_id", "number") ON DELETE CASCADE;
ALTER TABLE "grading_notes" ADD CONSTRAINT "grading_notes_media_fkey"
  FOREIGN KEY ("organization_id", "media_id") REFERENCES "media_files" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "grading_notes" ADD CONSTRAINT "grading_notes_grader_fkey"
  FOREIGN KEY ("organization_id", "grader_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "grading_viewers" ADD CONSTRAINT "grading_viewers_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "grading_viewers" ADD CONSTRAINT "grading_viewers_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "releases" ADD CONSTRAINT "releases_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "releases" ADD CONSTRAINT "releases_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "releases" ADD CONSTRAINT "releases_released_by_fkey"
  FOREIGN KEY ("organization_id", "released_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "share_links" ADD CONSTRAINT "share_links_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "share_links" ADD CONSTRAINT "share_links_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "share_links" ADD CONSTRAINT "share_links_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "shared_results" ADD CONSTRAINT "shared_results_link_fkey"
  FOREIGN KEY ("organization_id", "share_link_id") REFERENCES "share_links" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "shared_results" ADD CONSTRAINT "shared_results_submission_fkey"
  FOREIGN KEY ("organization_id", "submission_id") REFERENCES "submissions" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "question_results" ADD CONSTRAINT "question_results_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "events" ADD CONSTRAINT "events_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_fkey"
  FOREIGN KEY ("organization_id", "endpoint_id") REFERENCES "webhook_endpoints" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_fkey"
  FOREIGN KEY ("organization_id", "endpoint_id", "event_id") REFERENCES "webhook_deliveries" ("organization_id", "endpoint_id", "event_id") ON DELETE CASCADE;
ALTER TABLE "ats_connections" ADD CONSTRAINT "ats_connections_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ats_keys" ADD CONSTRAINT "ats_keys_connection_fkey"
  FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "ats_keys" ADD CONSTRAINT "ats_keys_created_by_fkey"
  FOREIGN KEY ("organization_id", "created_by_id") REFERENCES "members" ("organization_id", "id");
ALTER TABLE "ats_orders" ADD CONSTRAINT "ats_orders_connection_fkey"
  FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "ats_orders" ADD CONSTRAINT "ats_orders_invite_fkey"
  FOREIGN KEY ("organization_id", "invite_id") REFERENCES "invites" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "ats_reports" ADD CONSTRAINT "ats_reports_connection_fkey"
  FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "ats_reports" ADD CONSTRAINT "ats_reports_order_fkey"
  FOREIGN KEY ("organization_id", "order_id") REFERENCES "ats_orders" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "ats_calls" ADD CONSTRAINT "ats_calls_connection_fkey"
  FOREIGN KEY ("organization_id", "connection_id") REFERENCES "ats_connections" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "ats_calls" ADD CONSTRAINT "ats_calls_order_fkey"
  FOREIGN KEY ("organization_id", "order_id") REFERENCES "ats_orders" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "erasures" ADD CONSTRAINT "erasures_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "erased_invites" ADD CONSTRAINT "erased_invites_erasure_fkey"
  FOREIGN KEY ("organization_id", "erasure_id") REFERENCES "erasures" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "erased_invite_counts" ADD CONSTRAINT "erased_invite_counts_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "erased_invite_counts" ADD CONSTRAINT "erased_invite_counts_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "erased_results" ADD CONSTRAINT "erased_results_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "erased_results" ADD CONSTRAINT "erased_results_assessment_fkey"
  FOREIGN KEY ("organization_id", "assessment_id") REFERENCES "assessments" ("organization_id", "id") ON DELETE CASCADE;
ALTER TABLE "archives" ADD CONSTRAINT "archives_organization_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organizations" ("id") ON DELETE CASCADE;
ALTER TABLE "archives" ADD CONSTRAINT "archives_member_fkey"
  FOREIGN KEY ("organization_id", "member_id") REFERENCES "members" ("organization_id", "id") ON DELETE CASCADE;

-- Written by hand: what schema.prisma can't express -------------------------------------------------------------------

-- Addresses -----------------------------------------------------------------------------------------------------------

-- The application folds everything but the ASCII letters of an address before it stores it (asStored in
-- src/domain/validation/email-address.ts). COLLATE "C" folds these alike in every locale: in a Turkish one lower('I') is 'ı'.
CREATE FUNCTION address_key(address text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN lower(address COLLATE "C");

CREATE UNIQUE INDEX credentials_email_key ON credentials (address_key(email));
CREATE UNIQUE INDEX members_email_key ON members (organization_id, address_key(email));

-- Tables of one row ---------------------------------------------------------------------------------------------------

-- The row is updated all the time. A low fill factor leaves room on its page, so that an update touches no index.
ALTER TABLE audit_sequence SET (fillfactor = 10);
ALTER TABLE audit_sequence ADD CONSTRAINT audit_sequence_one_check CHECK (id = 1);
INSERT INTO audit_sequence DEFAULT VALUES;
ALTER TABLE event_sequence SET (fillfactor = 10);
ALTER TABLE event_sequence ADD CONSTRAINT event_sequence_one_check CHECK (id = 1);
INSERT INTO event_sequence DEFAULT VALUES;
ALTER TABLE webhook_fanout SET (fillfactor = 10);
ALTER TABLE webhook_fanout ADD CONSTRAINT webhook_fanout_one_check CHECK (id = 1);
INSERT INTO webhook_fanout DEFAULT VALUES;
ALTER TABLE ats_fanout SET (fillfactor = 10);
ALTER TABLE ats_fanout ADD CONSTRAINT ats_fanout_one_check CHECK (id = 1);
INSERT INTO ats_fanout DEFAULT VALUES;

ALTER TABLE mail_outages ADD CONSTRAINT mail_outages_one_row CHECK (id = 1);

-- API keys ------------------------------------------------------------------------------------------------------------

ALTER TABLE api_keys ADD CONSTRAINT api_keys_requests_per_minute_check CHECK (requests_per_minute > 0);

-- Every process caches the keys it has looked up. A notification makes all of them look again. last_used_at is not among the columns:
-- it changes with every request and decides nothing.
CREATE FUNCTION notify_api_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('api_keys_changed', '');
  RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_changed AFTER DELETE
  OR UPDATE OF hash, mode, expires_at, revoked_at, created_by_id, previous_hash, previous_expires_at, rights, requests_per_minute, scopes, networks
  ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();
CREATE TRIGGER organizations_changed AFTER DELETE OR UPDATE OF name, tier ON organizations
  FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();
CREATE TRIGGER organization_suspensions_keys_changed AFTER INSERT OR DELETE ON organization_suspensions
  FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();
CREATE TRIGGER organization_security_keys_changed AFTER INSERT OR DELETE OR UPDATE OF api_key_networks ON organization_security
  FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();

-- Accounts and members ------------------------------------------------------------------------------------------------

ALTER TABLE second_factors ADD CONSTRAINT second_factors_kind_check CHECK (
  CASE kind
    WHEN 'totp' THEN encrypted_secret IS NOT NULL AND num_nonnulls(webauthn_id, public_key, counter, rp_id) = 0
    ELSE encrypted_secret IS NULL AND num_nulls(webauthn_id, public_key, counter, rp_id) = 0
  END
);

CREATE UNIQUE INDEX session_authentications_kind_key ON session_authentications (session_id, kind, provider_id) NULLS NOT DISTINCT;

-- A domain belongs to one organization, once it has proved that it does.
CREATE UNIQUE INDEX sign_in_domains_verified_key ON sign_in_domains (domain) WHERE verified_at IS NOT NULL;

CREATE INDEX members_notices_idx ON members (organization_id) WHERE notices <> '{}';
CREATE UNIQUE INDEX member_emails_dedupe_key ON member_emails (organization_id, member_id, dedupe_key) WHERE dedupe_key IS NOT NULL;

-- The sweep looks at the accounts whose memberships have changed, and at those that have none.
CREATE INDEX users_to_check_idx ON users (id) WHERE needs_orphan_check OR orphaned_since IS NOT NULL;
CREATE INDEX credentials_to_check_idx ON credentials (id) WHERE needs_orphan_check OR orphaned_since IS NOT NULL;

CREATE FUNCTION mark_accounts_for_orphan_check() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE users SET needs_orphan_check = true WHERE id = OLD.user_id;
  UPDATE credentials SET needs_orphan_check = true WHERE id = OLD.credential_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER members_deleted_accounts AFTER DELETE ON members
  FOR EACH ROW EXECUTE FUNCTION mark_accounts_for_orphan_check();
CREATE TRIGGER members_moved_accounts AFTER UPDATE ON members
  FOR EACH ROW WHEN (old.user_id <> new.user_id OR old.credential_id <> new.credential_id
    OR new.credential_id IS NULL AND old.credential_id IS NOT NULL)
  EXECUTE FUNCTION mark_accounts_for_orphan_check();

-- Audit log -----------------------------------------------------------------------------------------------------------

CREATE INDEX audit_entries_unnumbered_idx ON audit_entries (at, id) WHERE position IS NULL;

-- Assessments and questions -------------------------------------------------------------------------------------------

-- The portal's two lists, however long the other one is.
CREATE INDEX assessments_in_use_idx ON assessments (organization_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX assessments_archived_idx ON assessments (organization_id, created_at, id) WHERE archived_at IS NOT NULL;

-- question_count and total_points follow the questions, whoever writes them. By statement, not by row: each row would write another
-- version of its assessment, and an import of some thousand questions would take quadratic time. The argument is 1 or -1.
CREATE FUNCTION count_questions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
BEGIN
  UPDATE assessments a
  SET question_count = a.question_count + sign * delta.questions, total_points = a.total_points + sign * delta.points
  FROM (SELECT assessment_id, count(*)::int AS questions, sum(points)::int AS points FROM changed GROUP BY assessment_id) AS delta
  WHERE a.id = delta.assessment_id;
  PERFORM count_undrawn(array_agg(DISTINCT assessment_id)) FROM changed WHERE pool_id IS NOT NULL HAVING count(*) > 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER questions_inserted AFTER INSERT ON questions
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_questions('1');
CREATE TRIGGER questions_deleted AFTER DELETE ON questions
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_questions('-1');
CREATE FUNCTION count_updated_questions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE assessments a
  SET question_count = a.question_count + delta.questions, total_points = a.total_points + delta.points
  FROM (
    SELECT assessment_id, sum(questions)::int AS questions, sum(points)::int AS points
    FROM (
      SELECT assessment_id, 1 AS questions, points FROM updated_to
      UNION ALL
      SELECT assessment_id, -1, -points FROM updated_from
    ) AS change
    GROUP BY assessment_id
  ) AS delta
  WHERE a.id = delta.assessment_id AND (delta.questions <> 0 OR delta.points <> 0);
  PERFORM count_undrawn(array_agg(DISTINCT o.assessment_id) || array_agg(DISTINCT n.assessment_id))
  FROM updated_from o JOIN updated_to n ON n.id = o.id
  WHERE (o.assessment_id, o.pool_id) IS DISTINCT FROM (n.assessment_id, n.pool_id) HAVING count(*) > 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER questions_updated AFTER UPDATE ON questions
  REFERENCING OLD TABLE AS updated_from NEW TABLE AS updated_to FOR EACH STATEMENT EXECUTE FUNCTION count_updated_questions();

-- Takes the points of undrawn pool questions out of total_points: every candidate can reach the same.
CREATE FUNCTION count_undrawn(changed uuid[]) RETURNS void LANGUAGE sql AS $$
  UPDATE assessments a
  SET total_points = a.total_points + a.undrawn_points - undrawn.points, undrawn_points = undrawn.points
  FROM (
    SELECT c.id, coalesce(sum(greatest(p.questions - p.draw, 0) * p.points), 0)::int AS points
    FROM assessments c
    LEFT JOIN LATERAL (
      SELECT pool.draw, pool.points, count(q.id) AS questions
      FROM assessment_pools pool
      JOIN questions q ON q.organization_id = pool.organization_id AND q.pool_id = pool.id
      WHERE pool.organization_id = c.organization_id AND pool.assessment_id = c.id
      GROUP BY pool.organization_id, pool.id
    ) AS p ON true
    WHERE c.id = ANY(changed)
    GROUP BY c.id
  ) AS undrawn
  WHERE a.id = undrawn.id AND a.undrawn_points <> undrawn.points
$$;
CREATE FUNCTION count_changed_pools() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_undrawn(array_agg(DISTINCT assessment_id)) FROM changed HAVING count(*) > 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER assessment_pools_updated AFTER UPDATE ON assessment_pools
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_changed_pools();

-- Question library ----------------------------------------------------------------------------------------------------

-- Words of the name; a prefix of each is enough.
CREATE INDEX library_questions_search_idx ON library_questions USING gin (array_to_tsvector(name_words));

CREATE FUNCTION count_library_uses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.library_question_id IS NOT NULL THEN
    UPDATE library_questions SET uses = uses - 1
      WHERE organization_id = OLD.organization_id AND id = OLD.library_question_id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.library_question_id IS NOT NULL THEN
    UPDATE library_questions SET uses = uses + 1
      WHERE organization_id = NEW.organization_id AND id = NEW.library_question_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER questions_count_library_uses AFTER INSERT OR DELETE OR UPDATE OF library_question_id ON questions
  FOR EACH ROW EXECUTE FUNCTION count_library_uses();

-- Assets in use. Most rows name none and are not indexed.
CREATE INDEX questions_assets_idx ON questions USING gin (asset_ids) WHERE asset_ids <> '{}';
CREATE INDEX question_versions_assets_idx ON question_versions USING gin (asset_ids) WHERE asset_ids <> '{}';
CREATE INDEX library_versions_assets_idx ON library_versions USING gin (asset_ids) WHERE asset_ids <> '{}';
CREATE INDEX submission_questions_assets_idx ON submission_questions USING gin (asset_ids) WHERE asset_ids <> '{}';

-- Invites -------------------------------------------------------------------------------------------------------------

ALTER TABLE invites ADD CONSTRAINT invites_question_replay_limit_check CHECK (question_replay_limit >= 1);
ALTER TABLE invites ADD CONSTRAINT invites_answer_record_limit_check CHECK (answer_record_limit >= 1);

-- One invite for each address, assessment, mode, and attempt.
CREATE UNIQUE INDEX invites_address_key ON invites (organization_id, address_key(recipient_email), assessment_id, mode, attempt);

-- The candidates of an organization: each address with its latest invite.
CREATE INDEX invites_candidate_idx ON invites (organization_id, mode, address_key(recipient_email), sent_at DESC, id DESC);

CREATE INDEX invites_external_id_idx ON invites (organization_id, external_id, id) WHERE external_id IS NOT NULL;

-- The invite of an organization that expires next: the sweep and every list look here.
CREATE INDEX invites_next_due_idx ON invites (organization_id, expires_at) WHERE status IN ('pending', 'accepted');

CREATE INDEX invites_started_idx ON invites (assessment_session) WHERE status = 'started';
CREATE INDEX invites_started_at_idx ON invites (organization_id, mode, started_at) WHERE status = 'started';
CREATE INDEX invites_completed_at_idx ON invites (organization_id, mode, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX invites_revoked_at_idx ON invites (organization_id, mode, revoked_at, id) WHERE status = 'revoked';

-- A grader's list, with its count by status, is read from the index alone.
CREATE INDEX invites_grader_list_idx ON invites (organization_id, mode, assigned_grader_id, status)
  INCLUDE (id, assessment_id, sent_at, expires_at, created_at) WHERE assigned_grader_id IS NOT NULL;

CREATE INDEX invite_batches_open_idx ON invite_batches (organization_id, mode)
  WHERE finished_at IS NULL AND stopped_at IS NULL AND created_by_key_id IS NOT NULL;

-- Trigrams of an address or a name, in lower case as ILIKE compares them, for a search by any part. They are hashed together with the
-- organization, so that a search never meets the rows of another. The high cost keeps PostgreSQL from computing them row by row where
-- the index answers.
CREATE FUNCTION address_grams(organization_id uuid, address text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 10000 AS $$
DECLARE
  folded CONSTANT text := lower(address COLLATE "C");
  own CONSTANT bigint := uuid_hash_extended(organization_id, 0);
  grams bigint[] := '{}';
BEGIN
  FOR i IN 1 .. length(folded) - 2 LOOP
    grams[i] := hashtextextended(substr(folded, i, 3), own);
  END LOOP;
  RETURN grams;
END
$$;

-- New entries wait in a list that every search reads. At 2 MB an invite writes a third less to the log (7.5 kB instead of 12.0), and a
-- search takes up to 1.6 ms longer.
CREATE INDEX invites_address_grams_idx ON invites USING gin (address_grams(organization_id, recipient_email)) WITH (gin_pending_list_limit=2048);
CREATE INDEX invites_name_grams_idx ON invites USING gin (address_grams(organization_id, recipient_name_search)) WITH (gin_pending_list_limit=2048);

-- A transaction counts in the lowest slot that no other uses at that moment, so that it never waits for another one's counts.
CREATE FUNCTION claim_count_slot() RETURNS smallint LANGUAGE plpgsql AS $$
DECLARE
  slot smallint := 0;
BEGIN
  WHILE NOT pg_try_advisory_xact_lock('invites'::regclass::oid::int, slot) LOOP
    slot := slot + 1;
  END LOOP;
  RETURN slot;
END
$$;

-- Counts of invites by status and by day follow the invites, whoever writes them. The argument is 1 or -1. Rows that are already
-- completed are counted by count_invite_days.
ALTER TABLE organization_invite_counts SET (fillfactor = 50);
ALTER TABLE organization_daily_invite_counts SET (fillfactor = 50);
ALTER TABLE assessment_invite_counts SET (fillfactor = 50);
ALTER TABLE tag_invite_counts SET (fillfactor = 50);

CREATE FUNCTION utc_day(at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE RETURN (at AT TIME ZONE 'UTC')::date;

CREATE FUNCTION count_invites() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, mode, status, slot, count)
  SELECT organization_id, assessment_id, mode, status, own, sign * count(*) FROM changed GROUP BY 1, 2, 3, 4
  ON CONFLICT (organization_id, assessment_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, mode, status, slot, count)
  SELECT organization_id, mode, status, own, sign * count(*) FROM changed GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  IF TG_OP = 'INSERT' THEN
    INSERT INTO organization_daily_invite_counts AS kept (organization_id, mode, day, slot, invited)
    SELECT organization_id, mode, utc_day(created_at), own, count(*) FROM changed WHERE completed_at IS NULL GROUP BY 1, 2, 3
    ON CONFLICT (organization_id, mode, day, slot) DO UPDATE SET invited = kept.invited + excluded.invited;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER invites_inserted AFTER INSERT ON invites
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_invites('1');
CREATE TRIGGER invites_updated_from AFTER UPDATE ON invites
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_invites('-1');
CREATE TRIGGER invites_updated_to AFTER UPDATE ON invites
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_invites('1');

-- Rows that are deleted with their assessment or organization are not counted: the counts are deleted too.
CREATE FUNCTION count_deleted_invites() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO assessment_invite_counts AS kept (organization_id, assessment_id, mode, status, slot, count)
  SELECT organization_id, assessment_id, mode, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM assessments WHERE (assessments.organization_id, assessments.id) = (changed.organization_id, changed.assessment_id)) GROUP BY 1, 2, 3, 4
  ON CONFLICT (organization_id, assessment_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;

  INSERT INTO organization_invite_counts AS kept (organization_id, mode, status, slot, count)
  SELECT organization_id, mode, status, own, -count(*) FROM changed
  WHERE EXISTS (SELECT FROM organizations WHERE organizations.id = organization_id) GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, status, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;
CREATE TRIGGER invites_deleted AFTER DELETE ON invites
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_invites();

-- Moves one row from the days it had to the days it has. A transaction that erases invites sets assessments.keeps_sums: the days keep
-- them.
CREATE FUNCTION count_invite_days() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('assessments.keeps_sums', true) = 'on' THEN RETURN NULL; END IF;
  INSERT INTO organization_daily_invite_counts AS kept (organization_id, mode, day, slot, invited, completed)
  SELECT organization_id, mode, day, own, sum(invited), sum(completed)
  FROM (VALUES
    (OLD.organization_id, OLD.mode, utc_day(OLD.created_at), -1, 0), (NEW.organization_id, NEW.mode, utc_day(NEW.created_at), 1, 0),
    (OLD.organization_id, OLD.mode, utc_day(OLD.completed_at), 0, -1), (NEW.organization_id, NEW.mode, utc_day(NEW.completed_at), 0, 1)
  ) AS moved (organization_id, mode, day, invited, completed)
  -- A new row has had no days. With its organization go its days.
  WHERE day IS NOT NULL AND EXISTS (SELECT FROM organizations WHERE organizations.id = organization_id) GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, mode, day, slot) DO UPDATE
    SET invited = kept.invited + excluded.invited, completed = kept.completed + excluded.completed;
  RETURN NULL;
END
$$;
CREATE TRIGGER invites_inserted_completed AFTER INSERT ON invites
  FOR EACH ROW WHEN (new.completed_at IS NOT NULL) EXECUTE FUNCTION count_invite_days();
CREATE TRIGGER invites_updated_days AFTER UPDATE ON invites
  FOR EACH ROW WHEN (old.completed_at IS DISTINCT FROM new.completed_at OR old.created_at IS DISTINCT FROM new.created_at
    OR old.organization_id IS DISTINCT FROM new.organization_id)
  EXECUTE FUNCTION count_invite_days();
CREATE TRIGGER invites_deleted_days AFTER DELETE ON invites
  FOR EACH ROW EXECUTE FUNCTION count_invite_days();

-- TRUNCATE gives a trigger no rows to count.
CREATE FUNCTION reset_invite_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM assessment_invite_counts;
  DELETE FROM organization_invite_counts;
  RETURN NULL;
END
$$;
CREATE TRIGGER invites_truncated AFTER TRUNCATE ON invites
  FOR EACH STATEMENT EXECUTE FUNCTION reset_invite_counts();
CREATE FUNCTION reset_daily_invite_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM organization_daily_invite_counts;
  RETURN NULL;
END
$$;
CREATE TRIGGER invites_truncated_days AFTER TRUNCATE ON invites
  FOR EACH STATEMENT EXECUTE FUNCTION reset_daily_invite_counts();

-- What invites with a tag are listed by is copied from the invite. FOR SHARE: the invite must not change while its tag is not visible yet.
CREATE FUNCTION copy_invite_to_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT mode, status, sent_at, expires_at INTO NEW.mode, NEW.status, NEW.sent_at, NEW.expires_at
  FROM invites WHERE id = NEW.invite_id FOR SHARE;
  RETURN NEW;
END
$$;
CREATE TRIGGER invite_tags_ordered BEFORE INSERT ON invite_tags
  FOR EACH ROW EXECUTE FUNCTION copy_invite_to_tag();
CREATE FUNCTION copy_invite_to_its_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE invite_tags SET status = NEW.status, sent_at = NEW.sent_at, expires_at = NEW.expires_at
  WHERE organization_id = NEW.organization_id AND invite_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER invites_reordered AFTER UPDATE ON invites
  FOR EACH ROW WHEN (old.status IS DISTINCT FROM new.status OR old.sent_at IS DISTINCT FROM new.sent_at
    OR old.expires_at IS DISTINCT FROM new.expires_at)
  EXECUTE FUNCTION copy_invite_to_its_tags();

CREATE FUNCTION count_tagged_invites() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := TG_ARGV[0];
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO tag_invite_counts AS kept (organization_id, tag_id, mode, slot, count)
  SELECT organization_id, tag_id, mode, own, sign * count(*) FROM changed
  WHERE EXISTS (SELECT FROM tags WHERE tags.id = tag_id) GROUP BY 1, 2, 3
  ON CONFLICT (organization_id, tag_id, mode, slot) DO UPDATE SET count = kept.count + excluded.count;
  RETURN NULL;
END
$$;
CREATE TRIGGER invite_tags_inserted AFTER INSERT ON invite_tags
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_tagged_invites('1');
CREATE TRIGGER invite_tags_deleted AFTER DELETE ON invite_tags
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_tagged_invites('-1');
CREATE FUNCTION reset_tag_invite_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM tag_invite_counts;
  RETURN NULL;
END
$$;
CREATE TRIGGER invite_tags_truncated AFTER TRUNCATE ON invite_tags
  FOR EACH STATEMENT EXECUTE FUNCTION reset_tag_invite_counts();

-- Mail to candidates --------------------------------------------------------------------------------------------------

CREATE INDEX invite_emails_failed_idx ON invite_emails (organization_id, created_at, id)
  WHERE state = 'failed' AND failure IS DISTINCT FROM 'obsolete';
-- Invites whose mail did not arrive.
CREATE INDEX invite_emails_undelivered_idx ON invite_emails (organization_id, invite_id) WHERE state = 'failed' OR bounced_at IS NOT NULL;
CREATE INDEX invite_emails_waiting_idx ON invite_emails (organization_id, delayed_until) WHERE state = 'queued';
CREATE UNIQUE INDEX invite_emails_dedupe_key ON invite_emails (organization_id, invite_id, dedupe_key) WHERE dedupe_key IS NOT NULL;

CREATE UNIQUE INDEX mail_templates_version_key ON mail_templates (organization_id, kind, language, assessment_id, version)
  NULLS NOT DISTINCT;
CREATE UNIQUE INDEX reminder_rules_assessment_key ON reminder_rules (organization_id, assessment_id) NULLS NOT DISTINCT;

-- Submissions ---------------------------------------------------------------------------------------------------------

-- A candidate prepares once at a time, and has one text for a question.
CREATE UNIQUE INDEX submissions_preparing_key ON submissions (organization_id, invite_id) WHERE state = 'preparing';
CREATE UNIQUE INDEX answer_attempts_text_key ON answer_attempts (organization_id, submission_id, question_number) WHERE kind = 'text';

CREATE INDEX submissions_deadline_idx ON submissions (deadline_at) WHERE state = 'in_progress' AND deadline_at IS NOT NULL;
CREATE INDEX submissions_in_progress_idx ON submissions (organization_id, invite_id) WHERE state = 'in_progress';
CREATE INDEX submission_questions_version_idx ON submission_questions (organization_id, version_id, submission_id) WHERE version_id IS NOT NULL;

-- Queues of what people have to grade: submissions that need nobody cost these nothing.
CREATE INDEX submissions_third_grader_idx ON submissions (organization_id, mode, id) WHERE needs_third_grader;
CREATE INDEX submissions_waiting_idx ON submissions (organization_id, mode, state, submitted_at, id) WHERE needs_grading IS NOT FALSE;
CREATE INDEX submissions_grader_waiting_idx ON submissions (organization_id, mode, state, grader_id, submitted_at, id)
  WHERE needs_grading IS NOT FALSE;
CREATE INDEX submissions_second_grader_waiting_idx ON submissions (organization_id, mode, state, second_grader_id, submitted_at, id)
  WHERE needs_grading IS NOT FALSE;
CREATE INDEX submissions_to_release_idx ON submissions (organization_id, mode, submitted_at, id)
  WHERE state = 'submitted' AND needs_grading IS FALSE;

-- Grading by question goes through the submissions in the order of their reversed ids, which end in random digits.
CREATE INDEX submissions_walk_idx ON submissions (organization_id, mode, assessment_id, (reverse(id::text) COLLATE "C"))
  WHERE state = 'submitted' AND needs_grading IS NOT FALSE;
-- Equal for texts that differ at most in spaces, quotation marks, and dashes. domain/text/normalize.ts compares them exactly.
CREATE FUNCTION text_key(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN md5(regexp_replace(
  normalize(text, NFKC) COLLATE "C",
  '[-''"`\u0009-\u000d\u0020\u00a0\u00ab\u00b4\u00bb\u1680\u2000-\u200a\u2010-\u2015\u2018-\u201f\u2028\u2029\u202f\u2032\u2033\u205f\u2212\u3000\ufeff]+',
  '', 'g'));
CREATE INDEX answer_attempts_text_idx ON answer_attempts (organization_id, text_key(text))
  WHERE kind = 'text' AND char_length(text) BETWEEN 1 AND 2000;
-- The question of a grade, by which a grader's grades are counted.
CREATE FUNCTION copy_question_to_grade() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT question_id INTO NEW.question_id FROM submission_questions
  WHERE organization_id = NEW.organization_id AND submission_id = NEW.submission_id AND number = NEW.question_number;
  RETURN NEW;
END
$$;
CREATE TRIGGER grades_inserted BEFORE INSERT ON grades FOR EACH ROW EXECUTE FUNCTION copy_question_to_grade();

-- The grader of a submission is the one that its invite is assigned to, whoever writes that. Nobody grades twice: a second grader who
-- becomes the first is the second no more.
CREATE FUNCTION copy_grader_from_invite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT assigned_grader_id, coalesce(mode, NEW.mode) INTO NEW.grader_id, NEW.mode
  FROM (VALUES (true)) AS always LEFT JOIN invites ON organization_id = NEW.organization_id AND id = NEW.invite_id;
  RETURN NEW;
END
$$;
CREATE TRIGGER submissions_inserted BEFORE INSERT ON submissions
  FOR EACH ROW EXECUTE FUNCTION copy_grader_from_invite();
CREATE FUNCTION copy_grader_from_invite_to_submissions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE submissions SET grader_id = NEW.assigned_grader_id, second_grader_id = NULLIF(second_grader_id, NEW.assigned_grader_id)
  WHERE organization_id = NEW.organization_id AND invite_id = NEW.id AND grader_id IS DISTINCT FROM NEW.assigned_grader_id;
  RETURN NULL;
END $$;
CREATE TRIGGER invites_grader_changed AFTER UPDATE OF assigned_grader_id ON invites
  FOR EACH ROW WHEN (old.assigned_grader_id IS DISTINCT FROM new.assigned_grader_id) EXECUTE FUNCTION copy_grader_from_invite_to_submissions();

-- Nobody grades an answer twice: whoever gets the whole of one round loses what is assigned to them in the other.
CREATE FUNCTION free_assignments_of_other_round() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE grading_assignments SET grader_id = NULL
  WHERE organization_id = NEW.organization_id AND submission_id = NEW.id
    AND (round = 2 AND grader_id = NEW.grader_id OR round = 1 AND grader_id = NEW.second_grader_id);
  RETURN NULL;
END $$;
CREATE TRIGGER submissions_graders_changed AFTER UPDATE OF grader_id, second_grader_id ON submissions
  FOR EACH ROW WHEN (old.grader_id IS DISTINCT FROM new.grader_id OR old.second_grader_id IS DISTINCT FROM new.second_grader_id)
  EXECUTE FUNCTION free_assignments_of_other_round();
CREATE INDEX grading_assignments_open_idx ON grading_assignments (organization_id, language, submission_id) WHERE grader_id IS NULL AND is_open;

-- Recordings and photos -----------------------------------------------------------------------------------------------

CREATE INDEX submissions_media_due_idx ON submissions (media_deletion_due_at) WHERE media_deletion_due_at IS NOT NULL;
CREATE INDEX media_files_kept_idx ON media_files (kind, created_at) WHERE state <> 'deleted';
CREATE INDEX media_files_removal_idx ON media_files (deleted_at) WHERE state = 'deleted' AND removed_at IS NULL;
CREATE INDEX media_files_unfinished_idx ON media_files (created_at) WHERE state IN ('uploading', 'joining');

-- Levels are derived from a recording, so they go with it, while its row remains until its files are gone.
CREATE FUNCTION clear_levels() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.levels := NULL;
  RETURN NEW;
END
$$;
CREATE TRIGGER media_levels_cleared BEFORE UPDATE OF state ON media_files
  FOR EACH ROW WHEN (new.state = 'deleted') EXECUTE FUNCTION clear_levels();

-- Whatever deletes the row of a stored file, the file is found and removed.
CREATE FUNCTION queue_file_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deleted_media_files (id, key, deleted_at) VALUES (OLD.id, OLD.key, now()) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER media_deleted AFTER DELETE ON media_files
  FOR EACH ROW WHEN (old.removed_at IS NULL) EXECUTE FUNCTION queue_file_deletion();
CREATE TRIGGER assets_deleted AFTER DELETE ON assets
  FOR EACH ROW EXECUTE FUNCTION queue_file_deletion();
CREATE TRIGGER archives_deleted AFTER DELETE ON archives
  FOR EACH ROW WHEN (old.key IS NOT NULL) EXECUTE FUNCTION queue_file_deletion();

-- The transcript and the graders' notes go with their recording: deleted media keep their row.
CREATE FUNCTION delete_transcript_and_notes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM grading_notes WHERE organization_id = NEW.organization_id AND media_id = NEW.id;
  DELETE FROM transcripts WHERE organization_id = NEW.organization_id AND media_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER media_deleted_texts AFTER UPDATE OF state ON media_files
  FOR EACH ROW WHEN (new.state = 'deleted' AND old.state <> 'deleted') EXECUTE FUNCTION delete_transcript_and_notes();

CREATE INDEX transcripts_open_idx ON transcripts (organization_id, state, media_id) WHERE state IN ('waiting', 'queued');

-- Words of a transcript without their endings, hashed together with the organization, so that a search never meets the rows of another.
-- Languages without rules in PostgreSQL are searched for exact words.
CREATE FUNCTION transcript_words(organization_id uuid, language text, words text) RETURNS bigint[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT COST 10000 AS $$
DECLARE
  own CONSTANT bigint := uuid_hash_extended(organization_id, 0);
  rules CONSTANT regconfig := CASE language
    WHEN 'ar' THEN 'pg_catalog.arabic' WHEN 'da' THEN 'pg_catalog.danish' WHEN 'de' THEN 'pg_catalog.german'
    WHEN 'en' THEN 'pg_catalog.english' WHEN 'es' THEN 'pg_catalog.spanish' WHEN 'fi' THEN 'pg_catalog.finnish'
    WHEN 'fr' THEN 'pg_catalog.french' WHEN 'hu' THEN 'pg_catalog.hungarian' WHEN 'it' THEN 'pg_catalog.italian'
    WHEN 'nl' THEN 'pg_catalog.dutch' WHEN 'no' THEN 'pg_catalog.norwegian' WHEN 'pt' THEN 'pg_catalog.portuguese'
    WHEN 'ro' THEN 'pg_catalog.romanian' WHEN 'ru' THEN 'pg_catalog.russian' WHEN 'sv' THEN 'pg_catalog.swedish'
    WHEN 'tr' THEN 'pg_catalog.turkish' ELSE 'pg_catalog.simple' END::regconfig;
BEGIN
  -- The parser would take what is between angle brackets for a tag, and find no words in it.
  RETURN ARRAY(
    SELECT hashtextextended(lexeme, own) FROM unnest(tsvector_to_array(to_tsvector(rules, translate(words, '<>', '  ')))) AS lexeme);
END
$$;
CREATE INDEX transcripts_words_idx ON transcripts USING gin (transcript_words(organization_id, language, text)) WHERE text <> '';

-- Bytes of an organization's files, summed by slot as the counts of invites are.
ALTER TABLE organization_media_bytes SET (fillfactor = 50);

CREATE FUNCTION sum_media_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO organization_media_bytes AS kept (organization_id, slot, bytes)
  SELECT id, own, COALESCE(NEW.media_bytes, 0) - COALESCE(OLD.media_bytes, 0)
  -- With its organization go its sums.
  FROM organizations WHERE id = COALESCE(NEW.organization_id, OLD.organization_id)
  ON CONFLICT (organization_id, slot) DO UPDATE SET bytes = kept.bytes + excluded.bytes;
  RETURN NULL;
END
$$;
CREATE TRIGGER submissions_inserted_bytes AFTER INSERT ON submissions
  FOR EACH ROW WHEN (new.media_bytes <> 0) EXECUTE FUNCTION sum_media_bytes();
CREATE TRIGGER submissions_updated_bytes AFTER UPDATE OF media_bytes ON submissions
  FOR EACH ROW WHEN (old.media_bytes <> new.media_bytes) EXECUTE FUNCTION sum_media_bytes();
CREATE TRIGGER submissions_deleted_bytes AFTER DELETE ON submissions
  FOR EACH ROW WHEN (old.media_bytes <> 0) EXECUTE FUNCTION sum_media_bytes();

CREATE FUNCTION sum_asset_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own CONSTANT smallint := claim_count_slot();
BEGIN
  INSERT INTO organization_media_bytes AS kept (organization_id, slot, bytes)
  SELECT id, own, COALESCE(NEW.bytes, 0) - COALESCE(OLD.bytes, 0)
  -- With its organization go its sums.
  FROM organizations WHERE id = COALESCE(NEW.organization_id, OLD.organization_id)
  ON CONFLICT (organization_id, slot) DO UPDATE SET bytes = kept.bytes + excluded.bytes;
  RETURN NULL;
END
$$;
CREATE TRIGGER assets_inserted_bytes AFTER INSERT ON assets
  FOR EACH ROW WHEN (new.bytes <> 0) EXECUTE FUNCTION sum_asset_bytes();
CREATE TRIGGER assets_updated_bytes AFTER UPDATE OF bytes ON assets
  FOR EACH ROW WHEN (old.bytes <> new.bytes) EXECUTE FUNCTION sum_asset_bytes();
CREATE TRIGGER assets_deleted_bytes AFTER DELETE ON assets
  FOR EACH ROW WHEN (old.bytes <> 0) EXECUTE FUNCTION sum_asset_bytes();

CREATE FUNCTION reset_media_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM organization_media_bytes;
  RETURN NULL;
END
$$;
CREATE TRIGGER submissions_truncated AFTER TRUNCATE ON submissions
  FOR EACH STATEMENT EXECUTE FUNCTION reset_media_bytes();

-- Grading and results -------------------------------------------------------------------------------------------------

ALTER TABLE grades ADD CONSTRAINT grades_round_check CHECK (round BETWEEN 1 AND 3);
ALTER TABLE grades ADD CONSTRAINT grades_points_check CHECK (points >= 0 AND points * 2 = trunc(points * 2));

-- A release counts instead of the version before it. Rows are locked in the order of question_id, so that two releases at once wait for
-- each other instead of deadlocking.
CREATE FUNCTION sum_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO question_results AS kept (organization_id, assessment_id, mode, question_id, results, points, of_points)
  SELECT s.organization_id, s.assessment_id, s.mode, p.question_id, sum(sign), sum(sign * g.points), sum(sign * p.points)
  FROM (
    SELECT 1 AS sign, NEW.grades AS grades
    UNION ALL
    (SELECT -1, grades FROM releases
     WHERE organization_id = NEW.organization_id AND submission_id = NEW.submission_id AND version < NEW.version ORDER BY version DESC LIMIT 1)
  ) AS given
  CROSS JOIN jsonb_to_recordset(given.grades) AS g (number int, points numeric)
  JOIN submissions s ON s.organization_id = NEW.organization_id AND s.id = NEW.submission_id
  JOIN submission_questions p ON p.organization_id = s.organization_id AND p.submission_id = s.id AND p.number = g.number
  WHERE g.points IS NOT NULL AND p.points > 0
  GROUP BY s.organization_id, s.assessment_id, s.mode, p.question_id
  ORDER BY p.question_id
  ON CONFLICT (organization_id, assessment_id, mode, question_id) DO UPDATE SET
    results = kept.results + excluded.results, points = kept.points + excluded.points, of_points = kept.of_points + excluded.of_points;
  RETURN NULL;
END $$;
CREATE TRIGGER releases_inserted AFTER INSERT ON releases
  FOR EACH ROW EXECUTE FUNCTION sum_release();

-- A result is subtracted before its submission is deleted, while its release and its paper are still there. A transaction that erases
-- submissions sets assessments.keeps_sums: the sums keep them.
CREATE FUNCTION subtract_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('assessments.keeps_sums', true) = 'on' THEN RETURN OLD; END IF;
  IF NOT EXISTS (
    SELECT FROM assessments a JOIN organizations o ON o.id = a.organization_id
    WHERE a.organization_id = OLD.organization_id AND a.id = OLD.assessment_id
  ) THEN RETURN OLD; END IF;
  -- Locked in the order in which releases count, so that neither locks the other out.
  PERFORM FROM question_results q
  WHERE q.organization_id = OLD.organization_id AND q.assessment_id = OLD.assessment_id AND q.mode = OLD.mode AND q.question_id IN (
    SELECT question_id FROM submission_questions WHERE organization_id = OLD.organization_id AND submission_id = OLD.id
  ) ORDER BY q.question_id FOR NO KEY UPDATE;
  UPDATE question_results AS kept SET
    results = kept.results - gone.results, points = kept.points - gone.points, of_points = kept.of_points - gone.of_points
  FROM (
    SELECT p.question_id, count(*) AS results, sum(g.points) AS points, sum(p.points) AS of_points
    FROM (SELECT grades FROM releases WHERE organization_id = OLD.organization_id AND submission_id = OLD.id ORDER BY version DESC LIMIT 1) AS newest
    CROSS JOIN jsonb_to_recordset(newest.grades) AS g (number int, points numeric)
    JOIN submission_questions p ON p.organization_id = OLD.organization_id AND p.submission_id = OLD.id AND p.number = g.number
    WHERE g.points IS NOT NULL AND p.points > 0
    GROUP BY p.question_id
  ) AS gone
  WHERE kept.organization_id = OLD.organization_id AND kept.assessment_id = OLD.assessment_id AND kept.mode = OLD.mode
    AND kept.question_id = gone.question_id;
  RETURN OLD;
END $$;
CREATE TRIGGER submissions_deleted BEFORE DELETE ON submissions
  FOR EACH ROW WHEN (old.released_at IS NOT NULL) EXECUTE FUNCTION subtract_release();

-- Events and webhooks -------------------------------------------------------------------------------------------------

-- Each event is soon updated once, each delivery twice.
ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE webhook_deliveries SET (autovacuum_vacuum_scale_factor = 0.02);

-- A request that records an event pays for the primary key and events_unnumbered_idx. Numbering moves the row to the others.
CREATE INDEX events_unnumbered_idx ON events (sequence) WHERE position IS NULL;
CREATE UNIQUE INDEX events_position_key ON events (position) WHERE position IS NOT NULL;

-- The feed, one index for each set of filters.
CREATE INDEX events_mode_idx ON events (organization_id, mode, position) WHERE position IS NOT NULL;
CREATE INDEX events_type_idx ON events (organization_id, mode, type, position) WHERE position IS NOT NULL;
CREATE INDEX events_invite_idx ON events (organization_id, invite_id, position) WHERE position IS NOT NULL;

-- The next attempt for each endpoint.
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (endpoint_id, is_replay, next_attempt_at) WHERE state = 'waiting';

-- Applicant tracking systems ------------------------------------------------------------------------------------------

-- An order that an ATS repeats is the same one. After a cancellation it is a new one.
CREATE UNIQUE INDEX ats_orders_natural_key ON ats_orders (organization_id, connection_id, natural_key)
  WHERE cancelled_at IS NULL;

-- The next attempt for each connection, and the first report of each order.
CREATE INDEX ats_reports_due_idx ON ats_reports (connection_id, next_attempt_at) WHERE state = 'waiting';
CREATE INDEX ats_reports_waiting_idx ON ats_reports (order_id, position, id) WHERE state = 'waiting';

-- Erasure and exports -------------------------------------------------------------------------------------------------

-- One erasure of an address runs at a time.
CREATE UNIQUE INDEX erasures_running_key ON erasures (organization_id, address_hmac) WHERE finished_at IS NULL;

-- One export of a person runs at a time for each who asks: nobody is led to a file that only somebody else can download.
CREATE UNIQUE INDEX archives_making_candidate_actor_key ON archives (organization_id, address_hmac, actor_kind, actor_id) NULLS NOT DISTINCT
  WHERE finished_at IS NULL AND address_hmac IS NOT NULL;
CREATE UNIQUE INDEX archives_making_member_actor_key ON archives (organization_id, member_id, actor_kind, actor_id) NULLS NOT DISTINCT
  WHERE finished_at IS NULL AND member_id IS NOT NULL;
