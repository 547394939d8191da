CREATE TABLE implementation (
    id INTEGER NOT NULL,
    identity VARCHAR(64) NOT NULL,
    primitive VARCHAR(64) NOT NULL,
    family VARCHAR(255) NOT NULL,
    variant VARCHAR(255) NOT NULL,
    name VARCHAR(255) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    CONSTRAINT pk_implementation PRIMARY KEY (id),
    CONSTRAINT uq_implementation_identity UNIQUE (identity)
);

CREATE INDEX ix_implementation_variant ON implementation (variant);

CREATE TABLE target (
    id INTEGER NOT NULL,
    identity VARCHAR(64) NOT NULL,
    name VARCHAR(255) NOT NULL,
    digest VARCHAR(64) NOT NULL,
    CONSTRAINT pk_target PRIMARY KEY (id),
    CONSTRAINT uq_target_identity UNIQUE (identity)
);

CREATE TABLE toolchain (
    id INTEGER NOT NULL,
    identity VARCHAR(64) NOT NULL,
    name VARCHAR(255) NOT NULL,
    version VARCHAR(255) NOT NULL,
    sha256 VARCHAR(64) NOT NULL,
    CONSTRAINT pk_toolchain PRIMARY KEY (id),
    CONSTRAINT uq_toolchain_identity UNIQUE (identity)
);

CREATE TABLE setup (
    id INTEGER NOT NULL,
    "key" VARCHAR(64) NOT NULL,
    implementation_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    toolchain_id INTEGER NOT NULL,
    device VARCHAR(255) NOT NULL,
    flags TEXT NOT NULL,
    workload TEXT NOT NULL,
    harness VARCHAR(255) NOT NULL,
    timing_model VARCHAR(255) NOT NULL,
    CONSTRAINT pk_setup PRIMARY KEY (id),
    CONSTRAINT uq_setup_key UNIQUE ("key"),
    CONSTRAINT fk_setup_implementation_id FOREIGN KEY(implementation_id) REFERENCES implementation (id),
    CONSTRAINT fk_setup_target_id FOREIGN KEY(target_id) REFERENCES target (id),
    CONSTRAINT fk_setup_toolchain_id FOREIGN KEY(toolchain_id) REFERENCES toolchain (id)
);

CREATE INDEX ix_setup_implementation_id ON setup (implementation_id);

CREATE INDEX ix_setup_target_id ON setup (target_id);

CREATE TABLE run (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    setup_id INTEGER NOT NULL,
    reason VARCHAR(64),
    detail TEXT,
    verified_with VARCHAR(64),
    vectors INTEGER,
    ext_vectors INTEGER,
    skipped INTEGER,
    notes TEXT NOT NULL,
    origin TEXT NOT NULL,
    log VARCHAR(64) NOT NULL,
    host VARCHAR(255) NOT NULL,
    seconds DOUBLE NOT NULL,
    finished BIGINT,
    seed VARCHAR(64),
    answers VARCHAR(64),
    CONSTRAINT fk_run_setup_id FOREIGN KEY(setup_id) REFERENCES setup (id)
);

CREATE INDEX ix_run_setup_id_id ON run (setup_id, id);

CREATE TABLE helper (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    member VARCHAR(255) NOT NULL,
    size INTEGER NOT NULL,
    CONSTRAINT pk_helper PRIMARY KEY (run_id, position),
    CONSTRAINT fk_helper_run_id FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;

CREATE TABLE measurement (
    run_id INTEGER NOT NULL,
    metric VARCHAR(128) NOT NULL,
    whole BIGINT,
    fraction DOUBLE,
    CONSTRAINT pk_measurement PRIMARY KEY (run_id, metric),
    CONSTRAINT ck_measurement_one_value CHECK ((whole IS NULL) <> (fraction IS NULL)),
    CONSTRAINT fk_measurement_run_id FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;

CREATE TABLE point (
    run_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    operation VARCHAR(16) NOT NULL,
    adlen INTEGER NOT NULL,
    mlen INTEGER NOT NULL,
    cycles BIGINT NOT NULL,
    CONSTRAINT pk_point PRIMARY KEY (run_id, position),
    CONSTRAINT fk_point_run_id FOREIGN KEY(run_id) REFERENCES run (id)
)
 WITHOUT ROWID;

CREATE TABLE steelyard_revision (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT steelyard_revision_pkc PRIMARY KEY (version_num)
);
